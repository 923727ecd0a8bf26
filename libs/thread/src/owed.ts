// Is a stored effect still worth paying? Always asked with the thread at the end of the list of commits being paid. (V5)
import type { ThreadEffect } from './effect.ts';
import type { Thread } from './thread.ts';

export function isOwed(thread: Thread, effect: ThreadEffect): boolean {
  switch (effect.do) {
    case 'RequestCompletion':
      return thread.completion?.completionId === effect.completionId;
    case 'InvokeTool':
      return thread.calls[effect.toolCallId] !== undefined;
    case 'SetTimer':
      return thread.timers[effect.timerId] !== undefined;
    case 'LoadToolsets':
      return thread.loading === effect.loadId;
    case 'WithdrawCall':
    case 'SendCancelNotices':
    case 'SendCloseNotices':
      return true;
    default:
      return unreachable(effect);
  }
}

export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
