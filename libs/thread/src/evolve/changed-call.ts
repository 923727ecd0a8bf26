// One open call of a thread, changed.
import { type Call, callOf, type Thread } from '../thread.ts';

export const replaceCall = (thread: Thread, changed: Call): Thread => ({
  ...thread,
  calls: thread.calls.map((call) => (call.toolCallId === changed.toolCallId ? changed : call)),
});

export function changeCall(thread: Thread, toolCallId: string, change: (call: Call) => Call): Thread {
  const call = callOf(thread, toolCallId);
  return call === undefined ? thread : replaceCall(thread, change(call));
}
