// Makes the owner of a parked thread look, when an operator wants the thread to go on.
import type { InputBus, ParkedThreads, ThreadKey } from '@dormouse/ports';

/** The first input that waits is published again: it has one id, so twice is once. Where none waits, the mark goes. */
export async function wakeParked(
  { parked, bus }: { readonly parked: ParkedThreads; readonly bus: InputBus },
  key: ThreadKey,
): Promise<void> {
  const [first] = (await parked.inputs(key)).filter(({ droppedAt }) => droppedAt === null);
  if (first === undefined) await parked.unpark(key);
  else await bus.publish(key, first.input, first.trace);
}
