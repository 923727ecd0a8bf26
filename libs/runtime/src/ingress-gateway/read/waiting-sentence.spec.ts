import { tenantId, type Attempt, type Question, type Retrying } from '@dormouse/ports';
import { type Call, type Thread, type Timer, unopenedThread } from '@dormouse/thread';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type WaitFacts, waitingSentence } from './waiting-sentence.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
/** A Wednesday. */
const now = Date.parse('2026-11-25T10:00:00Z');

const call = (more: Partial<Call> = {}): Call => ({
  toolCallId: 'call_1',
  operation: 'deploy',
  arguments: { password: 'swordfish' },
  providerCallId: 'p',
  toolServer: 'weather-tools',
  toolsetSha256: '',
  delivery: 'at_least_once',
  waiting: { for: 'result' },
  detached: false,
  since: now - 3 * hour - 12 * minute,
  timerId: null,
  personTimerId: null,
  askedToLogIn: false,
  rejectedCallbacks: 0,
  ...more,
});

const timer = (reason: Timer['reason'], due: number, timerId = 'tmr_1'): Timer => ({
  ...{ timerId, due, reason, toolCallId: null, scheduleId: null, since: now - minute },
});

const attempt = (number: number, status: number | string, agoMs: number, durationMs = 12): Attempt => ({
  ...{ toolCallId: 'call_1', number, at: now - agoMs, status, durationMs },
});

const retrying: Retrying = {
  ...{ completionId: 'cmp_1', attempt: 2, code: 'MODEL_FAILED', detail: 'connect ECONNREFUSED' },
  ...{ host: 'models.example:8443', failedAt: now - 3 * second, nextAt: now + 5 * second, since: now - minute },
};

const thinking: Partial<Thread> = { completion: { completionId: 'cmp_1', since: now - 20 * second }, model: 'gpt-4.1' };
const asks = (waiting: Call['waiting'], expiresInMs: number): Partial<Thread> => ({
  calls: [call({ waiting, since: now - 2 * minute, personTimerId: 'tmr_1' })],
  timers: { tmr_1: timer('approval_deadline', now + expiresInMs) },
});
const sleeps = (due: string): Partial<Thread> => ({ timers: { tmr_1: timer('sleep', Date.parse(due)) } });
const parked = (reason: string, mark: 'parked' | 'replay' = 'parked'): Partial<WaitFacts> => ({
  status: 'parked',
  parked: { mark, reason, parkedAt: now - 2 * hour },
});

type Row = readonly [kind: string, thread: Partial<Thread>, facts: Partial<WaitFacts>, sentence: string | null];

const idle: readonly Row[] = [
  ['an idle thread', {}, { status: 'idle' }, null],
  ['a closed thread', { status: 'closed' }, { status: 'closed' }, null],
  [
    'a subscription',
    {
      subscriptions: {
        call_1: {
          ...{ toolCallId: 'call_1', operation: 'watch', toolServer: 's', arguments: {}, since: 1, events: 0 },
          ...{ lastEventAt: null, minute: { since: 1, events: 0 } },
        },
      },
    },
    { status: 'idle' },
    null,
  ],
  ['a schedule', { timers: { tmr_1: timer('schedule', now + hour) } }, { status: 'idle' }, null],
  [
    'a child',
    { children: { thr_2: { childId: 'thr_2', reason: 'call', since: now - hour } } },
    { status: 'idle' },
    null,
  ],
];

const calls: readonly Row[] = [
  [
    'a call whose attempts were not read',
    { calls: [call()] },
    {},
    'waiting 3 h 12 min for `call_1` (deploy) at weather-tools',
  ],
  [
    'a call before its acknowledgement',
    { calls: [call({ since: now - 4 * second })] },
    { attempts: [] },
    'waiting 4 s for `call_1` (deploy) at weather-tools: not acknowledged yet',
  ],
  [
    'a call that is sent again',
    { calls: [call({ since: now - minute })] },
    { attempts: [attempt(2, 503, 12 * second), attempt(1, 'ECONNREFUSED', 40 * second)] },
    'waiting 1 min for `call_1` (deploy) at weather-tools: ' +
      'not acknowledged after 2 attempts, the last one was answered with 503 12 s ago',
  ],
  [
    'a call that reached no server',
    { calls: [call({ since: now - minute })] },
    { attempts: [attempt(1, 'ECONNREFUSED', 59 * second)] },
    'waiting 1 min for `call_1` (deploy) at weather-tools: ' +
      'not acknowledged after 1 attempt, the last one failed with ECONNREFUSED 59 s ago',
  ],
  [
    'an acknowledged call',
    { calls: [call()] },
    { attempts: [attempt(1, 202, 3 * hour)], usual: { ms: 40 * second, calls: 3 } },
    'waiting 3 h 12 min for `call_1` (deploy) at weather-tools: ' +
      'acknowledged in 12 ms, no result since; usual time 40 s',
  ],
  [
    'a call that a later attempt brought',
    { calls: [call()] },
    { attempts: [attempt(1, 500, 3 * hour), attempt(2, 200, 3 * hour - second, 1_400)], usual: { ms: 80, calls: 1 } },
    'waiting 3 h 12 min for `call_1` (deploy) at weather-tools: ' +
      'acknowledged by attempt 2 in 1 s, no result since; the last such call took 80 ms',
  ],
  [
    'a call whose callbacks were refused',
    {
      calls: [call({ rejectedCallbacks: 2 })],
      problems: [
        { code: 'RESULT_TOO_LARGE', detail: 'deploy: the secret', since: 1, toolCallId: 'call_1' },
        { code: 'RESULT_UNREADABLE', detail: 'deploy: the secret', since: 2, toolCallId: 'call_1' },
      ],
    },
    { attempts: [attempt(1, 202, 3 * hour)] },
    'waiting 3 h 12 min for `call_1` (deploy) at weather-tools: ' +
      'acknowledged in 12 ms, no result since; 2 callbacks were refused with RESULT_UNREADABLE',
  ],
  [
    'a detached call',
    { calls: [call({ detached: true })] },
    { attempts: [attempt(1, 202, 3 * hour)] },
    'waiting 3 h 12 min for `call_1` (deploy, detached) at weather-tools: acknowledged in 12 ms, no result since',
  ],
];

const paused: readonly Row[] = [
  [
    'a call to a paused tool server',
    { calls: [call({ since: now - minute })] },
    { attempts: [], isServerPaused: true },
    'waiting 1 min for `call_1` (deploy) at weather-tools: tool server weather-tools is paused, until ' +
      '`dormouse tools resume weather-tools`; not acknowledged yet',
  ],
  [
    'a call that was tried before its tool server was paused',
    { calls: [call({ since: now - minute })] },
    { attempts: [attempt(1, 503, 12 * second)], isServerPaused: true, isAgentPaused: true },
    'waiting 1 min for `call_1` (deploy) at weather-tools: tool server weather-tools is paused, until ' +
      '`dormouse tools resume weather-tools`; not acknowledged after 1 attempt, the last one was answered with 503 12 s ago',
  ],
  [
    'a call that was sent before its tool server was paused',
    { calls: [call({ since: now - minute })] },
    { attempts: [attempt(1, 202, minute)], isServerPaused: true, isAgentPaused: true },
    'waiting 1 min for `call_1` (deploy) at weather-tools: acknowledged in 12 ms, no result since',
  ],
  [
    'a call of a paused agent',
    { agent: { name: 'writer', version: 2 }, calls: [call({ since: now - minute })] },
    { attempts: [], isAgentPaused: true },
    'waiting 1 min for `call_1` (deploy) at weather-tools: agent writer is paused, until ' +
      '`dormouse agents resume writer`; not acknowledged yet',
  ],
  [
    'a completion of a paused agent',
    { ...thinking, agent: { name: 'writer', version: 2 } },
    { isAgentPaused: true, retrying, slot: { completionId: 'cmp_1', since: now } },
    'waiting 20 s, and the model is not asked: agent writer is paused, until `dormouse agents resume writer`',
  ],
  [
    'an idle thread of a paused agent',
    { agent: { name: 'writer', version: 2 } },
    { status: 'idle', isAgentPaused: true },
    null,
  ],
];

const people: readonly Row[] = [
  [
    'an approval',
    asks({ for: 'approval', choiceId: 'chc_1' }, 58 * minute),
    {},
    'waiting 2 min for a person to allow `call_1` (deploy) at weather-tools; it expires in 58 min',
  ],
  [
    'a choice',
    asks({ for: 'choice', choiceId: 'chc_1', question: null }, -second),
    {},
    'waiting 2 min for a person to answer a question of `call_1` (deploy) at weather-tools; it expires now',
  ],
  [
    'a login',
    asks({ for: 'login', question: null }, 23 * hour + 58 * minute),
    {},
    'waiting 2 min for a person to log in for `call_1` (deploy) at weather-tools; it expires in 23 h 58 min',
  ],
];

const completions: readonly Row[] = [
  ['a completion', thinking, {}, 'waiting 20 s for the answer of the model (gpt-4.1)'],
  [
    'a completion without a slot',
    thinking,
    { slot: { completionId: 'cmp_1', since: now - 7 * second } },
    'waiting 7 s for a free slot, before the model is asked',
  ],
  [
    'the slot of a completion before',
    thinking,
    { slot: { completionId: 'cmp_0', since: 1 }, retrying: { ...retrying, completionId: 'cmp_0' } },
    'waiting 20 s for the answer of the model (gpt-4.1)',
  ],
  [
    'a completion that is tried again',
    thinking,
    { retrying },
    'waiting 20 s for the answer of the model (gpt-4.1) at models.example:8443: ' +
      'attempt 2 failed 3 s ago (MODEL_FAILED: connect ECONNREFUSED), the next one is due in 5 s',
  ],
  [
    'a completion of a model without a host whose next attempt is due',
    { ...thinking, model: '' },
    { retrying: { ...retrying, host: null, nextAt: now - 1 } },
    'waiting 20 s for the answer of the model: ' +
      'attempt 2 failed 3 s ago (MODEL_FAILED: connect ECONNREFUSED), the next one is due now',
  ],
];

const times: readonly Row[] = [
  ['a sleep', sleeps('2026-11-27T08:00:00Z'), {}, 'sleeping until Friday 08:00 UTC (in 1 day 22 h)'],
  [
    'a sleep whose end was named in a zone',
    sleeps('2026-11-27T08:00:00Z'),
    { zone: 'Europe/Zurich' },
    'sleeping until Friday 09:00 Europe/Zurich (in 1 day 22 h)',
  ],
  [
    'a sleep whose end was named with an offset that makes it another day',
    sleeps('2026-11-27T22:30:00Z'),
    { zone: '+05:30' },
    'sleeping until Saturday 04:00 +05:30 (in 3 days)',
  ],
  [
    'a sleep that has just begun',
    { timers: { tmr_1: timer('sleep', now + 3 * day - 100) } },
    {},
    'sleeping until Saturday 09:59 UTC (in 3 days)',
  ],
  [
    'a sleep of more than a week',
    sleeps('2027-01-01T00:00:00Z'),
    {},
    'sleeping until Friday 1 January 2027 00:00 UTC (in 37 days)',
  ],
  ['a sleep that is over', sleeps('2026-11-25T09:59:00Z'), {}, 'sleeping until Wednesday 09:59 UTC (now)'],
];

const whole: readonly Row[] = [
  [
    'a thread before its first commit',
    {},
    { status: 'opening', createdAt: now - 2 * second },
    'opening for 2 s: its first commit is not stored yet',
  ],
  [
    'a thread that loads its tools',
    { loading: 'load', toolServers: ['weather-tools', 'b', 'c'] },
    { status: 'opening', createdAt: now - 2 * second },
    'opening for 2 s: loading the tools of weather-tools and 2 more',
  ],
  [
    'a parked thread',
    {},
    parked('after 5 attempts: Unexpected token, "swordfish" is not JSON'),
    'parked after 5 attempts, 2 h ago: an input that fails every time; next: `dormouse parked show thr_1`',
  ],
  [
    'a parked thread with a code',
    {},
    parked('after 7 attempts: STATE_UNAVAILABLE, of this thread alone: swordfish'),
    'parked after 7 attempts, 2 h ago: an input that fails with STATE_UNAVAILABLE; next: `dormouse parked show thr_1`',
  ],
  [
    'a thread that is parked at the first attempt',
    {},
    parked('NEEDS_NEWER_VERSION'),
    'parked, 2 h ago: an input that fails with NEEDS_NEWER_VERSION; next: `dormouse parked show thr_1`',
  ],
  [
    'a parked thread that is replayed',
    {},
    parked('cannot decide', 'replay'),
    'parked, and its replay has begun; next: `dormouse parked show thr_1`',
  ],
  ['a parked thread whose mark is gone', {}, { status: 'parked' }, 'parked; next: `dormouse parked show thr_1`'],
];

const several: readonly Row[] = [
  [
    'several waits',
    {
      calls: [
        call({ toolCallId: 'call_2', since: now - second }),
        call({ since: now - minute }),
        call({ toolCallId: 'call_3', since: now - second }),
      ],
    },
    { attempts: [] },
    'waiting 1 min for `call_1` (deploy) at weather-tools: not acknowledged yet; and 2 more',
  ],
  [
    'a detached call, which is older, beside what blocks the turn',
    { ...thinking, calls: [call({ detached: true })] },
    {},
    'waiting 20 s for the answer of the model (gpt-4.1); and 1 more',
  ],
];

const below = (kind: Question['kind'], more: Partial<Question> = {}): Question => ({
  ...{
    tenant: tenantId('acme'),
    thread: 'thr_2',
    id: 'chc_1',
    kind,
    family: 'thr_1',
    ancestors: ['thr_1'],
    agent: 'a',
  },
  ...{ toolCallId: 'call_9', operation: 'deploy', toolServer: 'weather-tools', asked: 5, settled: null },
  ...{ since: now - 3 * minute, expiresAt: now + hour, ...more },
});

const descendants: readonly Row[] = [
  [
    'a question of a thread below an idle one',
    {},
    { status: 'idle', questions: [below('approval')] },
    'waiting 3 min for a person to allow `call_9` (deploy) at weather-tools, of `thr_2` below; it expires in 1 h',
  ],
  [
    'two questions below, of a login first',
    {},
    { status: 'idle', questions: [below('oauth', { expiresAt: now }), below('tool')] },
    'waiting 3 min for a person to log in for `call_9` (deploy) at weather-tools, of `thr_2` below; ' +
      'it expires now; and 1 more',
  ],
  [
    'an own wait before a question below',
    thinking,
    { status: 'thinking', questions: [below('tool')] },
    'waiting 20 s for the answer of the model (gpt-4.1); and 1 more',
  ],
  ['a closed thread, whatever is below', { status: 'closed' }, { status: 'closed', questions: [below('tool')] }, null],
];

const hostile: readonly Row[] = [
  [
    'names with controls, backticks and no end',
    { calls: [call({ since: now, operation: '\u001b[2J`de\u202eploy\n', toolServer: `${'x'.repeat(500)}` })] },
    {},
    `waiting 0 ms for \`call_1\` ([2Jdeploy) at ${'x'.repeat(59)}…`,
  ],
  [
    'a clock that is behind the one that wrote',
    { calls: [call({ since: now + hour })] },
    {},
    'waiting 0 ms for `call_1` (deploy) at weather-tools',
  ],
  [
    'spans of every size',
    { calls: [call({ since: now - day - 30 * second })] },
    { attempts: [attempt(1, 202, hour, 59_999)], usual: { ms: 2 * day + hour, calls: 2 } },
    'waiting 1 day for `call_1` (deploy) at weather-tools: acknowledged in 1 min, no result since; usual time 2 days',
  ],
];

function sentenceOf(thread: Partial<Thread>, facts: Partial<WaitFacts> = {}): string | null {
  return waitingSentence(
    { ...unopenedThread(tenantId('acme'), 'thr_1'), status: 'open', ...thread },
    {
      ...{ now, status: 'waiting', createdAt: now, slot: null, retrying: null, parked: null },
      ...{ attempts: null, usual: null, zone: null, questions: [], isAgentPaused: false, isServerPaused: false },
      ...facts,
    },
  );
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: second, min: minute, h: hour, day, days: day };

/** Half of the smallest unit that a span of this size is said in. */
function offByMax(ms: number): number {
  if (ms < second) return 0;
  if (ms < hour) return second / 2;
  if (ms < day) return minute / 2;
  return ms < 2 * day ? hour / 2 : day / 2;
}

describe('what a thread waits for, in a sentence', () => {
  it('says a duration that is never off by more than half a unit', () => {
    const near = fc
      .tuple(fc.constantFrom(second, minute, hour, day, 2 * day, 3 * day), fc.integer({ min: -2_000, max: 2_000 }))
      .map(([unit, more]) => Math.max(1, unit + more));
    fc.assert(
      fc.property(
        fc.oneof(near, fc.integer({ min: 1, max: 4 * day }), fc.integer({ min: 1, max: 400 * day })),
        (ms) => {
          const said = sentenceOf({ timers: { tmr_1: timer('sleep', now + ms) } }) ?? '';
          const words = (/\(in (.*)\)$/.exec(said)?.[1] ?? '').split(' ');
          const amounts = words.filter((_word, index) => index % 2 === 0).map(Number);
          const sum = amounts.reduce(
            (total, amount, index) => total + amount * (unitMs[words[2 * index + 1] ?? ''] ?? NaN),
            0,
          );
          expect(Math.abs(sum - ms), said).toBeLessThanOrEqual(offByMax(ms));
          expect(amounts.length, said).toBeLessThanOrEqual(2);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ...idle,
    ...calls,
    ...paused,
    ...people,
    ...completions,
    ...times,
    ...whole,
    ...several,
    ...descendants,
    ...hostile,
  ])('%s', (_kind, thread, facts, sentence) => {
    const said = sentenceOf(thread, facts);
    expect(said).toBe(sentence);
    expect(said ?? '').not.toMatch(/swordfish|secret/);
  });
});
