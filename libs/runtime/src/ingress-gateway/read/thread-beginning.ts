// What the first commit of a log contains about the thread: where its history begins, and its ancestors.
import type { ThreadPosition } from '@dormouse/thread';
import { openCommit } from '../../log/envelope.ts';

export interface Beginning {
  readonly parent: ThreadPosition | null;
  readonly forkedFrom: ThreadPosition | null;
  /** Whichever of the two its history goes on from. */
  readonly before: ThreadPosition | null;
  /** The root first; none for a root. */
  readonly ancestors: readonly string[];
}

export function beginningOf(first: Parameters<typeof openCommit>[0] | undefined): Beginning {
  const events = first === undefined ? [] : openCommit(first).events;
  const opened = events.find((event) => event.type === 'ThreadOpened');
  const forked = events.find((event) => event.type === 'ThreadForked');
  const { parent = null, ancestors = [] } = opened ?? {};
  const forkedFrom = forked?.from ?? null;
  return { parent, forkedFrom, before: parent ?? forkedFrom, ancestors };
}
