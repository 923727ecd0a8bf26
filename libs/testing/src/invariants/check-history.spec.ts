// Every checker passes a good history and has been seen to fail for a bad one.
import { describe, expect, it } from 'vitest';
import { tenantId, type Commit } from '@dormouse/ports';
import { encodeSnapshot, openCommit, sealCommit } from '@dormouse/runtime';
import {
  emptyTail,
  extendTranscript,
  type ModelMessage,
  type RecordedEvent,
  transcript,
  unopenedThread,
} from '@dormouse/thread';
import { checkers, checkHistory } from './check-history.ts';
import type { History, InvariantId, ReceivedPost, SentCallback, SentRequest, SlotStep } from './history.ts';
import { illegalities } from './model-invariants.ts';
import {
  answers,
  closes,
  historyOf,
  newStory,
  opening,
  results,
  says,
  seal,
  type Story,
  tell,
  toolsLoaded,
} from './story.ts';

const good = tell(
  newStory(),
  opening(),
  toolsLoaded,
  says('a'),
  answers('let me look', { operation: 'look', n: 1 }),
  results('sunny-1'),
  answers('it is sunny'),
  says('b'),
  answers('bye'),
);
const callId =
  eventsOf(good).flatMap((event) => (event.type === 'ToolCallRequested' ? [event.toolCallId] : []))[0] ?? '';

const request = (
  id: string,
  sentAt: number,
  answeredAt: number | null,
  more: Partial<SentRequest> = {},
): SentRequest => ({
  key: good.key,
  kind: 'message',
  inputId: `c:${id}`,
  messageId: `msg_${id}`,
  sentAt,
  answeredAt,
  ...more,
});
/** Of one process, as `tenant step, tenant step`. */
const slots = (text: string): readonly SlotStep[] =>
  text.split(', ').map((line) => {
    const [tenant = '', step = ''] = line.split(' ');
    return { process: 'p1', tenant, step: step as SlotStep['step'], weight: 1 };
  });
const post: ReceivedPost = {
  toolServer: 'tools',
  thread: 'thr_1',
  toolCallId: callId,
  operation: 'look',
  arguments: { n: 1 },
  receivedAt: 5,
  lookedUpAt: 4,
};
const callback: SentCallback = {
  key: good.key,
  toolCallId: callId,
  type: 'tool_result',
  text: 'sunny-1',
  legitimate: true,
  sentAt: 6,
  status: 200,
};
const received = {
  type: 'SubscriptionEventReceived',
  ...{ toolCallId: callId, eventId: 'evt-1', content: [], associative: true, final: false },
  ...{ into: 'thread', childId: null },
};
const effects = good.commits.flatMap((commit) => openCommit(commit).effects);
const goodHistory: History = {
  ...historyOf(good),
  sightings: good.commits,
  requests: [request('a', 1, 2), request('b', 7, 8)],
  callbacks: [callback],
  posts: [post],
  notices: [{ toolServer: 'tools', notice: 'cancel_tool_call', subject: 'x' }],
  handedOver: new Set(effects.map((effect) => effect.id).concat(callId)),
  prompts: promptsOf(good),
  streams: [{ key: good.key, events: streamOf(good) }],
  snapshots: [
    {
      key: good.key,
      snapshot: {
        version: good.thread.position,
        shape: 1,
        state: encodeSnapshot({
          thread: good.thread,
          tail: tailOf(good),
          lastHash: good.commits.at(-1)?.hash ?? '',
          recent: transcript(eventsOf(good)).slice(-2),
        }),
      },
    },
  ],
  canaries: { acme: 'canary-acme', other: 'canary-other' },
  secrets: ['token-1'],
};

function eventsOf(story: Story): readonly RecordedEvent[] {
  return story.commits.flatMap((commit) => openCommit(commit).events);
}
function tailOf(story: Story) {
  return eventsOf(story).reduce((tail, event) => extendTranscript(tail, event).tail, emptyTail);
}
function streamOf(story: Story): History['streams'][number]['events'] {
  return eventsOf(story).map(({ type }, index) => ({
    position: index + 1,
    type: type.replace(/\B[A-Z]/g, (letter) => `_${letter}`).toLowerCase(),
  }));
}
function promptsOf(story: Story): History['prompts'] {
  const events = eventsOf(story);
  return events.flatMap((event, index) =>
    event.type === 'CompletionRequested'
      ? [{ key: story.key, completionId: event.completionId, messages: transcript(events.slice(0, index + 1)) }]
      : [],
  );
}
const idsOf = (history: History): readonly InvariantId[] => [...new Set(checkHistory(history).map(({ id }) => id))];
/** The story with one commit more, whether or not the heart would accept it. */
const append = (story: Story, input: string, ...events: readonly object[]): Story => {
  const recorded = events.map((event) => ({
    ...event,
    turnId: 't',
    cause: { kind: 'message', id: 'x' },
  })) as unknown as readonly RecordedEvent[];
  return {
    ...story,
    commits: [...story.commits, seal(story, [input], { events: recorded, effects: [] }, 1_764_000_100_000)],
  };
};
const withCommits = (change: (commits: readonly Commit[]) => readonly Commit[]): History => ({
  ...goodHistory,
  threads: [{ key: good.key, commits: change(good.commits) }],
});

describe('a good history', () => {
  it('violates nothing', () => expect(checkHistory(goodHistory)).toEqual([]));
});

describe('each checker has been seen red', () => {
  const settledTwice = append(good, 'r2', {
    type: 'ToolCallSettled',
    toolCallId: callId,
    outcome: 'timed_out',
    content: [],
  });
  const dangling = append(
    tell(newStory(), opening(), toolsLoaded, says('a'), answers('look', { operation: 'look', n: 1 })),
    'x',
  );
  const open = tell(newStory(), opening(), toolsLoaded, says('a'), answers('look', { operation: 'look', n: 1 }));
  const closed = tell(good, closes('z'));
  const amo = tell(
    newStory(),
    opening(),
    toolsLoaded,
    says('a'),
    answers('', { operation: 'wipe', n: 1 }),
    results('gone-1'),
    answers('done'),
  );
  const amoId =
    eventsOf(amo).flatMap((event) => (event.type === 'ToolCallRequested' ? [event.toolCallId] : []))[0] ?? '';
  const completionId =
    eventsOf(good).flatMap((event) => (event.type === 'CompletionRequested' ? [event.completionId] : []))[0] ?? '';
  const words: ModelMessage = { role: 'user', content: [{ type: 'text', text: 'not in history' }] };

  const reds: readonly (readonly [InvariantId, string, History])[] = [
    ['I-01', 'an acknowledged message that is nowhere', { ...goodHistory, requests: [request('gone', 1, 2)] }],
    [
      'I-01',
      'an acknowledged result whose call stays open',
      { ...historyOf(open), callbacks: [{ ...callback, toolCallId: open.thread.calls[0]?.toolCallId ?? '' }] },
    ],
    [
      'I-02',
      'an input that two commits decided',
      historyOf(append(good, 'c:a', { type: 'MessageRefused', messageId: 'msg_q', code: 'X', detail: '' })),
    ],
    [
      'I-02',
      'a message accepted twice',
      {
        ...goodHistory,
        ...historyOf(append(good, 'other', { type: 'MessageAccepted', messageId: 'msg_a', content: [] })),
        requests: [request('a', 1, null)],
      },
    ],
    ['I-03', 'a missing commit', withCommits((commits) => commits.toSpliced(2, 1))],
    [
      'I-03',
      'a changed byte',
      withCommits((commits) =>
        commits.map((commit, index) =>
          index === 2 ? { ...commit, body: commit.body.replace('hello', 'hallo') } : commit,
        ),
      ),
    ],
    ['I-03', 'two commits of one version', withCommits((commits) => [...commits, ...commits.slice(-1)])],
    [
      'I-03',
      'other bytes than somebody saw',
      { ...goodHistory, sightings: good.commits.slice(0, 1).map((commit) => ({ ...commit, hash: 'other' })) },
    ],
    [
      'I-03',
      'time that goes back',
      withCommits((commits) => commits.map((commit, index) => (index === 3 ? { ...commit, at: 1 } : commit))),
    ],
    [
      'I-04',
      'a later message that stands first',
      { ...goodHistory, requests: [request('a', 7, 8), request('b', 1, 2)] },
    ],
    ['I-05', 'a POST of nothing committed', { ...goodHistory, posts: [{ ...post, toolCallId: 'call_none' }] }],
    ['I-05', 'a POST with other arguments', { ...goodHistory, posts: [{ ...post, arguments: { n: 2 } }] }],
    [
      'I-06',
      'two calls that share an id',
      historyOf(good, { ...good, key: { tenant: tenantId('acme'), thread: 'thr_2' } }),
    ],
    ['I-06', 'one call under two ids', { ...goodHistory, posts: [post, { ...post, toolCallId: 'call_again' }] }],
    [
      'I-07',
      'an at-most-once call POSTed twice',
      {
        ...historyOf(amo),
        posts: [1, 2].map((at) => ({ ...post, toolCallId: amoId, operation: 'wipe', receivedAt: at })),
      },
    ],
    ['I-07', 'a notice sent twice', { ...goodHistory, notices: [...goodHistory.notices, ...goodHistory.notices] }],
    [
      'I-08',
      'a POST by somebody who could know of the 4xx',
      { ...goodHistory, recordedRefusals: [{ toolCallId: callId, recordedAt: 3 }] },
    ],
    ['I-09', 'a call that nobody sent', { ...goodHistory, posts: [], handedOver: new Set() }],
    ['I-10', 'a call settled twice', historyOf(settledTwice)],
    [
      'I-10',
      'a call settled that nobody requested',
      historyOf(append(good, 'x', { type: 'ToolCallSettled', toolCallId: 'call_x', outcome: 'result', content: [] })),
    ],
    ['I-10', 'a call open at rest', historyOf(dangling)],
    ['I-11', 'a forged result', { ...goodHistory, callbacks: [{ ...callback, legitimate: false }] }],
    [
      'I-11',
      'a result that was sent for another call',
      { ...goodHistory, callbacks: [{ ...callback, toolCallId: 'call_other' }] },
    ],
    ['I-12', 'an event that nobody subscribed to', historyOf(append(good, 'x', { ...received, toolCallId: callId }))],
    [
      'I-13',
      'an event that entered twice under one id',
      historyOf(append(good, 'x', { type: 'SubscriptionOpened', toolCallId: callId }, received, received)),
    ],
    [
      'I-13',
      'an event that was answered 200 and is nowhere',
      {
        ...goodHistory,
        finalRefusals: [],
        callbacks: [callback, { ...callback, type: 'event', eventId: 'evt-9', text: 'lost' }],
      },
    ],
    [
      'I-18',
      'a child that was never opened',
      historyOf(
        append(good, 'x', {
          type: 'ChildSpawned',
          childId: 'thr_child',
          reason: 'call',
          toolCallId: callId,
          queuedEvents: 0,
        }),
      ),
    ],
    [
      'I-14',
      'an answer of a superseded completion',
      historyOf(
        append(good, 'x', {
          type: 'CompletionRecorded',
          completionId,
          message: { text: '' },
          finishReason: 'stop',
          usage: { inputTokens: 0, outputTokens: 0 },
          interrupted: false,
          final: true,
        }),
      ),
    ],
    [
      'I-15',
      'a prompt that is not in history',
      {
        ...goodHistory,
        prompts: goodHistory.prompts.map((prompt) => ({ ...prompt, messages: [...prompt.messages, words] })),
      },
    ],
    [
      'I-15',
      'a prompt for a completion that nobody requested',
      { ...goodHistory, prompts: [{ key: good.key, completionId: 'cmp_none', messages: [] }] },
    ],
    [
      'I-16',
      'a snapshot that replay does not give',
      {
        ...goodHistory,
        snapshots: [
          {
            key: good.key,
            snapshot: {
              version: 3,
              shape: 1,
              state: encodeSnapshot({
                thread: unopenedThread(tenantId('acme'), 'thr_1'),
                tail: emptyTail,
                lastHash: '',
                recent: [],
              }),
            },
          },
        ],
      },
    ],
    [
      'I-17',
      'a commit that went with the cache',
      {
        ...goodHistory,
        wipes: [{ what: 'dedup', heads: good.commits.slice(-1).map((commit) => ({ ...commit, hash: 'other' })) }],
      },
    ],
    [
      'I-19',
      'a stream with a gap',
      { ...goodHistory, streams: [{ key: good.key, events: streamOf(good).toSpliced(2, 1) }] },
    ],
    [
      'I-19',
      'a stream that repeats itself',
      { ...goodHistory, streams: [{ key: good.key, events: [...streamOf(good), ...streamOf(good).slice(-1)] }] },
    ],
    [
      'I-19',
      'a stream that stops early',
      { ...goodHistory, streams: [{ key: good.key, events: streamOf(good).slice(0, -1) }] },
    ],
    [
      'I-20',
      'a message accepted in a closed thread',
      historyOf(append(closed, 'x', { type: 'MessageAccepted', messageId: 'msg_late', content: [] })),
    ],
    [
      'I-20',
      'an acknowledged close that does not close',
      { ...goodHistory, requests: [request('a', 1, 2, { kind: 'close', messageId: null })] },
    ],
    [
      'I-21',
      'the words of another tenant in a log',
      { ...historyOf(tell(good, says('c', 'canary-other'))), canaries: goodHistory.canaries },
    ],
    [
      'I-21',
      'the words of another tenant in a prompt',
      {
        ...goodHistory,
        prompts: goodHistory.prompts.map((prompt) => ({
          ...prompt,
          messages: [{ role: 'user', content: [{ type: 'text', text: 'canary-other' }] }],
        })),
      },
    ],
    [
      'I-23',
      'a callback token in the log',
      { ...historyOf(tell(good, says('c', 'see /callback/token-1'))), secrets: ['token-1'] },
    ],
    ['I-24', 'a run that never rests', { ...goodHistory, unrest: ['lag 3'] }],
    [
      'I-26',
      'a tenant that is served again and again while another waits',
      { ...goodHistory, slots: slots('loud taken, quiet waits, loud given, loud served, loud served, loud served') },
    ],
    ['I-24', 'a completion that nobody runs', historyOf(tell(good, says('c')))],
    [
      'I-24',
      'an effect that nobody paid',
      { ...historyOf(closed), handedOver: new Set(effects.map((effect) => effect.id)) },
    ],
    [
      'V3',
      'a final refusal that entered later',
      { ...goodHistory, finalRefusals: [{ key: good.key, inputId: 'c:a' }] },
    ],
  ];
  it.each(reds)('%s is red: %s', (id, _what, history) => expect(idsOf(history)).toContain(id));

  it('covers every invariant that has a checker', () => {
    const seen = new Set(reds.map(([id]) => id));
    expect(Object.keys(checkers).filter((id) => !seen.has(id as InvariantId))).toEqual([]);
  });

  it('shows a transcript that no provider takes as a violation of I-15', () => {
    const twice = [
      { role: 'tool', results: [{ toolCallId: 'c', operation: 'o', outcome: 'result', content: [] }] },
    ] as const;
    expect(illegalities([...twice, ...twice])).not.toEqual([]);
    expect(
      illegalities([{ role: 'assistant', text: '', toolCalls: [{ toolCallId: 'c', operation: 'o', arguments: {} }] }]),
    ).not.toEqual([]);
  });
  it('does not take a re-sealed commit for the one that was seen', () => {
    const [first] = good.commits;
    if (first === undefined) throw new Error('the story has no commit');
    const { events, effects: owed } = openCommit(first);
    const forged = sealCommit({
      key: good.key,
      version: 0,
      inputs: first.inputs,
      at: first.at,
      nonce: 'another',
      trace: null,
      prev: '',
      events,
      effects: owed,
    });
    expect(idsOf({ ...goodHistory, sightings: [forged] })).toEqual(['I-03']);
  });
});
