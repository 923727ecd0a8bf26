// A client's request that the thread cannot fulfil is recorded: a 202 never vanishes. (V3, input N2)
import type { Draft } from '../draft.ts';
import type { ClientInput, UserMessage } from '../input.ts';

type Request = Exclude<ClientInput, UserMessage>;

const names = {
  InterruptRequest: 'interrupt',
  RetryRequest: 'retry',
  CloseRequest: 'close',
  CancelCallRequest: 'cancel_call',
  CancelSubscriptionRequest: 'cancel_subscription',
  RefreshToolsetsRequest: 'refresh_toolsets',
  MigrationRequest: 'migration',
  ScheduleRequest: 'schedule',
  UnscheduleRequest: 'unschedule',
  ExternalEvent: 'event',
  AssignmentRequest: 'assignment',
  ChoiceAnswer: 'choice',
} as const satisfies Record<Request['kind'], string>;

export function refuseRequest(draft: Draft, input: Request, code: string, detail: string): void {
  draft.emit({ type: 'RequestRefused', requestId: input.requestId, request: names[input.kind], code, detail });
}
