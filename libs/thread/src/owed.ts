// Is a stored effect still worth paying? Always evaluated with the thread at the end of the commits being paid. (V5)
import type { ThreadEffect } from './effect.ts';
import { callOf, own, type Thread } from './thread.ts';
import { unknownKind } from './unreachable.ts';

export function isOwed(thread: Thread, effect: ThreadEffect): boolean {
  switch (effect.do) {
    case 'RequestCompletion':
      return thread.completion?.completionId === effect.completionId;
    case 'InvokeTool': // a detached call still owes its dispatch (V9)
      return callOf(thread, effect.toolCallId) !== undefined;
    case 'SetTimer':
      return own(thread.timers, effect.timerId) !== undefined;
    case 'LoadToolsets':
      return thread.loading === effect.loadId;
    case 'SpawnChild': // also for a closed thread: its children live on (V9)
      return own(thread.children, effect.childId) !== undefined;
    case 'MigrateToolServers':
      return thread.migrating?.migrationId === effect.migrationId;
    case 'ReportToParent':
    case 'SendToChild':
    case 'AnswerChoice':
    case 'ForgetLogin':
    case 'ListQuestions':
    case 'WithdrawCall':
    case 'SendCancelNotices':
    case 'SendCloseNotices':
      return true;
    default:
      return unknownKind('effect', (effect as { readonly do: never }).do);
  }
}
