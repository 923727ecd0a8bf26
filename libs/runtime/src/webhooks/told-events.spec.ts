import { tenantId } from '@dormouse/ports';
import { createMemoryWorld, createManualClock } from '@dormouse/adapter-memory';
import type { RecordedEvent } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { sealCommit } from '../log/envelope.ts';
import { createThreadStatuses } from './thread-statuses.ts';
import { toldEvents } from './told-events.ts';

const recorded = (events: readonly object[]): readonly RecordedEvent[] =>
  events.map((event) => ({ ...event, turnId: 'msg_1', cause: { kind: 'operator', id: 'x' } }) as RecordedEvent);

describe('what is told of a commit', () => {
  it('E1 E3 is at the positions of its events, without contents', () => {
    const events = recorded([
      { type: 'MessageAccepted', messageId: 'msg_1', content: [{ type: 'text', text: 'canary' }] },
      { type: 'CompletionFailed', completionId: 'cmp_1', code: 'MODEL_FAILED', detail: 'canary', retryable: true },
      { type: 'OauthRequested', toolCallId: 'call_1', expiresAt: 7 },
      {
        type: 'ChildSpawned',
        childId: 'thr_2',
        reason: 'call',
        toolCallId: 'call_1',
        queuedEvents: 0,
        instructions: 'canary',
      },
      { type: 'ThreadClosed', by: 'user' },
    ]);
    const told = toldEvents(10, events, null);
    expect(told).toEqual([
      { event: 'thread.failed', position: 12, about: { code: 'MODEL_FAILED' } },
      { event: 'oauth.requested', position: 13, about: { tool_call_id: 'call_1' } },
      { event: 'child.opened', position: 14, about: { child_id: 'thr_2' } },
      { event: 'thread.closed', position: 15, about: { by: 'user' } },
    ]);
  });

  it('E2 has the status that the thread came to, at the last position, and only when it changed', () => {
    const events = recorded([
      { type: 'TitleSet', title: 'x' },
      { type: 'TitleSet', title: 'y' },
    ]);
    const of = (
      before: 'opening' | 'thinking' | 'waiting' | 'idle',
      after: 'thinking' | 'waiting' | 'idle' | 'closed',
    ) => toldEvents(4, events, { before, after });
    expect(of('thinking', 'idle')).toEqual([{ event: 'thread.idle', position: 6, about: {} }]);
    expect(of('thinking', 'waiting')).toEqual([{ event: 'thread.waiting', position: 6, about: {} }]);
    expect(of('waiting', 'idle')).toHaveLength(1);
    for (const [before, after] of [
      ['idle', 'idle'],
      ['opening', 'idle'],
      ['idle', 'thinking'],
      ['idle', 'closed'],
    ] as const)
      expect(of(before, after)).toEqual([]);
  });
});

it('S1 the status before a commit is of its version, also when it is read again', async () => {
  const stores = createMemoryWorld({ clock: createManualClock() }).ports('one');
  const key = { tenant: tenantId('acme'), thread: 'thr_1' };
  const steps = [
    [{ type: 'CompletionRequested', completionId: 'cmp_1', model: 'demo' }],
    [{ type: 'CompletionFailed', completionId: 'cmp_1', code: 'MODEL_FAILED', detail: '', retryable: false }],
    [{ type: 'CompletionRequested', completionId: 'cmp_2', model: 'demo' }],
  ].map(recorded);
  const opened = recorded([
    {
      ...{
        type: 'ThreadOpened',
        agent: { name: 'a', version: 1 },
        model: 'demo',
        toolServers: [],
        userId: null,
        title: null,
      },
      ...{ policies: {}, limits: {} },
    },
  ]);
  let prev = '';
  let version = 0;
  const commits = [];
  for (const events of [opened, ...steps]) {
    const commit = sealCommit({
      ...{
        key,
        version,
        inputs: [`i:${version}`],
        at: 1,
        nonce: `n${version}`,
        trace: null,
        prev,
        events,
        effects: [],
      },
    });
    await stores.log.append([{ commit, owes: false }]);
    ({ hash: prev } = commit);
    version += events.length;
    commits.push({ commit, events });
  }
  const statuses = createThreadStatuses(stores);
  const wanted = [
    { before: 'opening', after: 'idle' },
    { before: 'idle', after: 'thinking' },
    { before: 'thinking', after: 'idle' },
    { before: 'idle', after: 'thinking' },
  ];
  for (const order of [[0, 1, 2, 3], [2], [0], [3, 1]])
    for (const nth of order) {
      const { commit, events } = commits[nth]!;
      expect(await statuses.around(commit, events), `${nth}`).toEqual(wanted[nth]);
    }
});
