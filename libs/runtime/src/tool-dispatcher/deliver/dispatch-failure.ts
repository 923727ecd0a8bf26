// Why a call was not delivered: in the words that the model reads, and as the ledger keeps them, so that a failure that
// was recorded but not yet published is published later with the same code.
import { credentialRefreshFailed, inputIds, type DispatchFailure } from '@dormouse/thread';
import type { SendOutcome } from '@dormouse/ports';

export interface Failure {
  readonly code:
    | 'DISPATCH_FAILED'
    | 'OUTBOUND_FORBIDDEN'
    | 'TOOLSET_INVALID'
    | 'TOOLSET_CHANGED'
    | 'OUTCOME_UNKNOWN'
    | typeof credentialRefreshFailed;
  readonly detail: string;
}

const codes: readonly Failure['code'][] = [
  'DISPATCH_FAILED',
  'OUTBOUND_FORBIDDEN',
  'TOOLSET_INVALID',
  'TOOLSET_CHANGED',
  'OUTCOME_UNKNOWN',
  credentialRefreshFailed,
];

export const ledgerDetail = ({ code, detail }: Failure): string => `${code}: ${detail}`;

export function fromLedger(detail: string | null): Failure {
  const code = codes.find((known) => detail?.startsWith(`${known}: `) === true);
  return code === undefined
    ? { code: 'DISPATCH_FAILED', detail: detail ?? 'the call was not delivered' }
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
  return {
    code: 'DISPATCH_FAILED',
    detail: `tool server "${toolServer}" refused the call: it answered ${describe(outcome)}`,
  };
}

export function crowded(toolServer: string): Failure {
  return {
    code: 'DISPATCH_FAILED',
    detail: `the call was not sent: too many calls are waiting for tool server "${toolServer}", which does not take them`,
  };
}

export function exhausted(toolServer: string, attempts: number, outcome: SendOutcome): Failure {
  const times = attempts === 1 ? 'one attempt' : `${attempts} attempts`;
  return {
    code: 'DISPATCH_FAILED',
    detail: `tool server "${toolServer}" did not take the call in ${times}; at last: ${describe(outcome)}`,
  };
}

export function heldBack(toolServer: string, attempts: number): Failure {
  return {
    code: 'DISPATCH_FAILED',
    detail: `tool server "${toolServer}" could not be given the call in time: it keeps failing or is too busy (attempts: ${attempts})`,
  };
}

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
