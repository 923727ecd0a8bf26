// A thread that is being removed is gone for its clients as soon as it is closed. Until then an input may still wake it.
import type { ThreadRow } from '@dormouse/ports';

export const isGone = ({ status, leavingAt }: Pick<ThreadRow, 'status' | 'leavingAt'>): boolean =>
  status === 'closed' && leavingAt !== undefined;
