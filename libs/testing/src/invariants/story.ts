// A hand-made history: inputs decided by the real heart, sealed by the real envelope, one commit each. For specs of
// checkers, which take a good story and break one detail.
import { createHash } from 'node:crypto';
import { tenantId, type Commit, type ThreadKey } from '@dormouse/ports';
import { sealCommit } from '@dormouse/runtime';
import {
  decide,
  type Decision,
  defaultLimits,
  defaultPolicies,
  type LoadedToolset,
  type Moment,
  type Thread,
  type ThreadInput,
  unopenedThread,
} from '@dormouse/thread';
import { emptyHistory, type History } from './history.ts';

export interface Story {
  readonly key: ThreadKey;
  readonly thread: Thread;
  readonly commits: readonly Commit[];
}

const startsAt = 1_764_000_000_000;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export const newStory = (tenant = tenantId('acme'), thread = 'thr_1'): Story => ({
  key: { tenant, thread },
  thread: unopenedThread(tenant, thread),
  commits: [],
});

/** The story after these inputs; a refusal without a commit leaves it as it is. */
export function tell(story: Story, ...inputs: readonly (ThreadInput | ((story: Story) => ThreadInput))[]): Story {
  return inputs.reduce<Story>((before, given) => {
    const input = typeof given === 'function' ? given(before) : given;
    const at = startsAt + before.commits.length * 1_000;
    const decision = decide(before.thread, input, momentOf(before.thread, at));
    return decision.committed
      ? { ...before, thread: decision.thread, commits: [...before.commits, seal(before, [input.id], decision, at)] }
      : before;
  }, story);
}

type Committed = Extract<Decision, { readonly committed: true }>;

export function seal(
  story: Story,
  inputs: readonly string[],
  { events, effects }: Pick<Committed, 'events' | 'effects'>,
  at: number,
): Commit {
  const last = story.commits.at(-1);
  const version = last === undefined ? 0 : last.version + last.count;
  return sealCommit({
    key: story.key,
    version,
    inputs,
    at,
    nonce: `n${version}`,
    trace: null,
    prev: last?.hash ?? '',
    events,
    effects,
  });
}

function momentOf(thread: Thread, now: number): Moment {
  return {
    now,
    sha256,
    streamed: null,
    nextTime: () => null,
    mint: (prefix, position) => `${prefix}_${thread.id}_${position}`,
  };
}

export const historyOf = (...stories: readonly Story[]): History => ({
  ...emptyHistory,
  threads: stories.map(({ key, commits }) => ({ key, commits })),
  unrest: [],
});

const toolset: LoadedToolset = {
  toolServer: 'tools',
  name: 'tools',
  sha256: 'f'.repeat(64),
  tools: ['look', 'wipe'],
  destructive: ['wipe'],
  atMostOnce: ['wipe'],
  stale: false,
};

export const opening = (id = 'open:thr_1'): ThreadInput => ({
  kind: 'ThreadOpening',
  id,
  agent: {
    name: 'agent',
    version: 1,
    model: 'm',
    toolServers: ['tools'],
    policies: { ...defaultPolicies, approve: { mode: 'none', tools: {} } },
    limits: defaultLimits,
  },
  userId: null,
  title: null,
  message: null,
});

export const toolsLoaded = ({ thread }: Story): ThreadInput => ({
  kind: 'ToolsetsResult',
  id: `ts:${thread.loading}`,
  loadId: thread.loading ?? '',
  toolsets: [toolset],
  withheld: [],
  rejected: [],
});

export const says = (id: string, words = 'hello'): ThreadInput => ({
  kind: 'UserMessage',
  id: `c:${id}`,
  messageId: `msg_${id}`,
  content: [{ type: 'text', text: words }],
});

export const closes = (id: string): ThreadInput => ({ kind: 'CloseRequest', id: `c:${id}`, requestId: `req_${id}` });

export const answers =
  (text: string, ...calls: readonly { readonly operation: string; readonly n: number }[]) =>
  ({ thread }: Story): ThreadInput => ({
    kind: 'CompletionResult',
    id: `m:${thread.completion?.completionId}`,
    completionId: thread.completion?.completionId ?? '',
    text,
    reasoning: null,
    toolCalls: calls.map(({ operation, n }, index) => ({
      providerCallId: `p${index}`,
      operation,
      arguments: { n },
      problem: null,
    })),
    finishReason: calls.length > 0 ? 'tool_calls' : 'stop',
    usage: { inputTokens: 1, outputTokens: 1 },
  });

export const results =
  (words: string) =>
  ({ thread }: Story): ThreadInput => {
    const toolCallId = thread.calls[0]?.toolCallId ?? '';
    return {
      kind: 'ToolResult',
      id: `r:${toolCallId}`,
      toolCallId,
      toolServer: 'tools',
      content: [{ type: 'text', text: words }],
      displayAs: null,
      subscription: false,
    };
  };
