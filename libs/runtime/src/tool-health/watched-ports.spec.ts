import { tenantId, type FoldedCommit, type Hint, type LiveFeed } from '@dormouse/ports';
import { commitOf } from '@dormouse/ports/contracts';
import type { Call, Outcome, RecordedEvent } from '@dormouse/thread';
import { unopenedThread } from '@dormouse/thread';
import { expect, it } from 'vitest';
import type { ToolWatch } from './tool-watch.ts';
import { watchedFeed } from './watched-ports.ts';

const key = { tenant: tenantId('acme'), thread: 'thr_1' };
const asked: Call = {
  ...{ toolCallId: 'call_1', operation: 'send', arguments: {}, providerCallId: 'p', toolServer: 'mail' },
  ...{ toolsetSha256: '', delivery: 'at_least_once', waiting: { for: 'result' }, detached: false, since: 1_000 },
  ...{ timerId: null, personTimerId: null, askedToLogIn: false, rejectedCallbacks: 0 },
};

/** What is counted when this call is settled five seconds after its request. */
function counted(call: Partial<Call>, outcome: Outcome = 'result', code?: string): readonly unknown[] {
  const seen: unknown[] = [];
  const published: Hint[] = [];
  const feed = { publish: (_key: unknown, hint: Hint) => void published.push(hint) } as unknown as LiveFeed;
  const watch = { answered: (...args: unknown[]) => void seen.push(args) } as unknown as ToolWatch;
  const before = { ...unopenedThread(tenantId('acme'), 'thr_1'), calls: [{ ...asked, ...call }] };
  const event = { type: 'ToolCallSettled', toolCallId: 'call_1', outcome, content: [], ...(code && { code }) };
  const after: FoldedCommit = { before, events: [event as unknown as RecordedEvent], thread: before };
  watchedFeed(feed, watch).publish(key, { hint: 'committed', commit: commitOf(key, 3, { at: 6_000 }), after });
  expect(published).toHaveLength(1);
  return seen;
}

it('P1 a callback takes as long as its call was with the tool server', () => {
  expect(counted({})).toEqual([['acme', 'mail', 5_000]]);
  expect(counted({}, 'error')).toEqual([['acme', 'mail', 5_000]]);
  expect(counted({ resumedAt: 4_500 })).toEqual([['acme', 'mail', 1_500]]);
  expect(counted({ detached: true })).toHaveLength(1);
});

it('P1 what the tool server did not answer, or a person may have delayed, is left out', () => {
  expect(counted({}, 'error', 'DISPATCH_FAILED')).toEqual([]);
  for (const outcome of ['timed_out', 'interrupted', 'denied', 'outcome_unknown'] as const)
    expect(counted({}, outcome, 'X')).toEqual([]);
  expect(counted({ toolServer: null })).toEqual([]);
  expect(counted({ toolCallId: 'call_2' })).toEqual([]);
  expect(counted({ waiting: { for: 'login', question: null } })).toEqual([]);
});
