// Threads that work for the event loop give way to it: woken on its processor, they do not take it from the loop, which is what
// everybody waits for, but look for another. ADR 18
//
// Invariants:
//   Y1. Only the thread that says so gives way, and only where there is a second processor: alone it would get nothing done.
//   Y2. It is a help: where threads have no number (anything but Linux), or may not be changed, all of them stay as they are.
import { readlinkSync } from 'node:fs';
import { availableParallelism, constants, getPriority, setPriority } from 'node:os';

/** Steps of `nice`: a tenth of a busy processor that it has to share. */
export const giveWayBy = 10;

export function giveWay(): void {
  if (availableParallelism() < 2) return; // (Y1)
  try {
    const [pid, , thread] = readlinkSync('/proc/thread-self').split('/');
    if (pid !== String(process.pid)) return; // numbers of another namespace
    setPriority(Number(thread), Math.min(constants.priority.PRIORITY_LOW, getPriority() + giveWayBy));
  } catch {
    // (Y2)
  }
}
