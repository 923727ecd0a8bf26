// Whether a thread's completion waits for a slot, from what its processor lets people see: a hint, unknown is null.
import type { Delta } from '@dormouse/ports';
import type { SlotWait } from '@dormouse/thread';

/** As the last of these deltas says it; `before` when there is none. */
export function slotWait(deltas: readonly Delta[], before: SlotWait | null = null): SlotWait | null {
  const last = deltas.at(-1);
  if (last === undefined) return before;
  const { kind, completionId, text } = last;
  return kind === 'slot' && text !== '' ? { completionId, since: Number(text) } : null;
}
