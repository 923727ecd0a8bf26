// Whether a thread's completion waits for a slot, from what its processor publishes: a hint, unknown is null.
import type { Delta } from '@dormouse/ports';
import type { SlotWait } from '@dormouse/thread';

/** According to the last of these deltas; `before` when there is none. */
export function slotWait(deltas: readonly Delta[], before: SlotWait | null = null): SlotWait | null {
  const last = deltas.at(-1);
  if (last === undefined) return before;
  const { kind, completionId, text } = last;
  return kind === 'slot' && text !== '' ? { completionId, since: Number(text) } : null;
}
