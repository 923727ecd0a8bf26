// Why a call was not delivered: in the words that the model reads, and as the ledger keeps them, so that a failure that
// was recorded but not yet published is published later with the same code.
import { credentialRefreshFailed, inputIds, type DispatchFailure } from '@dormouse/thread';
import type { SendOutcome } from '@dormouse/ports';

const codes = [
  'DISPATCH_FAILED',
  'OUTBOUND_FORBIDDEN',
  'TOOLSET_INVALID',
  'TOOLSET_CHANGED',
  'OUTCOME_UNKNOWN',
  credentialRefreshFailed,
] as const;

export interface Failure {
  readonly code: (typeof codes)[number];
  readonly detail: string;
}

export const dispatchFailed = (detail: string): Failure => ({ code: 'DISPATCH_FAILED', detail });

export const ledgerDetail = ({ code, detail }: Failure): string => `${code}: ${detail}`;

export function fromLedger(detail: string | null): Failure {
  const code = codes.find((known) => detail?.startsWith(`${known}: `) === true);
  return code === undefined
    ? dispatchFailed(detail ?? 'the call was not delivered')
    : { code, detail: detail?.slice(code.length + 2) ?? '' };
}

export function dispatchFailure(
  toolCallId: string,
  outcome: DispatchFailure['outcome'],
  { code, detail }: Failure,
): DispatchFailure {
  return { kind: 'DispatchFailure', id: inputIds.dispatchFailure(toolCallId), toolCallId, outcome, code, detail };
}

/** A failure that a retry would not change. */
export function refusal(toolServer: string, outcome: SendOutcome): Failure {
  if (!outcome.sent) {
    const { code: known } = outcome;
    const code = known === 'OUTBOUND_FORBIDDEN' || known === credentialRefreshFailed ? known : 'DISPATCH_FAILED';
    return { code, detail: `the call was not sent to tool server "${toolServer}": ${outcome.detail}` };
  }
  // RAP lifecycle, Stale toolset version: refresh, and inform the model. R107
  if (outcome.status === 409)
    return { code: 'TOOLSET_CHANGED', detail: `tool server "${toolServer}" answered 409: its tools have changed` };
  return dispatchFailed(`tool server "${toolServer}" refused the call: it answered ${describe(outcome)}`);
}

export const crowded = (toolServer: string): Failure =>
  dispatchFailed(
    `the call was not sent: too many calls are waiting for tool server "${toolServer}", which does not take them`,
  );

export function exhausted(toolServer: string, attempts: number, outcome: SendOutcome): Failure {
  const times = attempts === 1 ? 'one attempt' : `${attempts} attempts`;
  return dispatchFailed(`tool server "${toolServer}" did not take the call in ${times}; at last: ${describe(outcome)}`);
}

export const heldBack = (toolServer: string, attempts: number): Failure =>
  dispatchFailed(
    `tool server "${toolServer}" could not be given the call in time: it keeps failing or is too busy (attempts: ${attempts})`,
  );

export function unknownOutcome(toolServer: string, why: string): Failure {
  return {
    code: 'OUTCOME_UNKNOWN',
    detail: `the outcome is unknown: the call was sent to tool server "${toolServer}" at most once and may have run (${why}); it is not repeated`,
  };
}

export function describe(outcome: SendOutcome): string {
  if (!outcome.sent) return outcome.detail;
  const redirect = outcome.status >= 300 && outcome.status < 400 ? ' (redirects are not followed)' : '';
  return `HTTP ${outcome.status}${redirect}`;
}
