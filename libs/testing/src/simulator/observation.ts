// Everything that an observer outside the runtime sees of a universe, collected while it runs, as a neutral `History`.
// Also checks what can only be judged at the moment it happens.
import type { MemoryWorld, Operation } from '@dormouse/adapter-memory';
import {
  type Commit,
  isThreadInput,
  type ThreadDelivery,
  type ThreadKey,
  type WorkTopics,
  tenantId,
} from '@dormouse/ports';
import { decide, evolve, type Moment, type RecordedEvent, type Thread, unopenedThread } from '@dormouse/thread';
import type {
  History,
  InvariantId,
  ReceivedNotice,
  ReceivedPost,
  SeenPrompt,
  SeenStream,
  SentCallback,
  SentRequest,
  SlotStep,
  Violation,
  Wipe,
} from '../invariants/history.ts';
import { openOnce, threadName } from '../invariants/reading.ts';

/** Per tenant a text that only its own clients and tools use. */
export const tenants = [tenantId('acme'), tenantId('zen')] as const;

export interface Observation {
  readonly posts: ReceivedPost[];
  appended(commit: Commit): void;
  decided(node: string, delivery: ThreadDelivery, version: number | null): void;
  /** An input that had been put aside was refused for good when its thread continued: no delivery reports this. */
  refusedInReplay(key: ThreadKey, inputId: string): void;
  handedOver(message: WorkTopics[keyof WorkTopics]): void;
  /** By an agent that is paused. */
  held(key: ThreadKey): void;
  applied(node: string, operation: Operation): void;
  post(node: string, post: Omit<ReceivedPost, 'lookedUpAt'>): void;
  notice(notice: ReceivedNotice): void;
  callback(callback: SentCallback): void;
  request(request: SentRequest): void;
  prompt(prompt: SeenPrompt): void;
  slot(step: SlotStep): void;
  wiped(what: string): void;
  token(token: string): void;
  witness(id: InvariantId, text: string): void;
  watching(stream: SeenStream): void;
  /** The thread as its log is now; null before its opening. */
  thread(key: ThreadKey): Thread | null;
  history(unrest: readonly string[]): History;
}

interface Fold {
  thread: Thread;
  commits: number;
}

export function createObservation(
  world: () => MemoryWorld,
  moment: () => number,
  counted: (path: string) => void,
): Observation {
  const sightings: Commit[] = [];
  const posts: ReceivedPost[] = [];
  const notices: ReceivedNotice[] = [];
  const callbacks: SentCallback[] = [];
  const requests: SentRequest[] = [];
  const prompts: SeenPrompt[] = [];
  const streams: SeenStream[] = [];
  const slots: SlotStep[] = [];
  const wipes: Wipe[] = [];
  const held = new Set<string>();
  const witnessed: Violation[] = [];
  const finalRefusals: { key: ThreadKey; inputId: string }[] = [];
  /** The inputs that were put aside, per process. */
  const putAside = new Set<string>();
  const recorded = new Map<string, number>();
  const handed = new Set<string>();
  const invocable = new Set<string>();
  const tokens = new Set<string>();
  const lookups = new Map<string, number>();
  const folds = new Map<string, Fold>();

  function thread(key: ThreadKey): Thread | null {
    const commits = world().commits(key);
    if (commits.length === 0) return null;
    const fold = folds.get(threadName(key)) ?? { thread: unopenedThread(key.tenant, key.thread), commits: 0 };
    folds.set(threadName(key), fold);
    for (const commit of commits.slice(fold.commits)) {
      for (const event of openOnce(commit).events) fold.thread = evolve(fold.thread, event, commit.at);
    }
    fold.commits = commits.length;
    return fold.thread;
  }

  /** A refusal without a commit was made final: the log itself must refuse the input too, now. (V3, V4) */
  function refused(delivery: ThreadDelivery & { readonly what: 'input' }): void {
    const { tenant, thread: id, input } = delivery;
    if (!isThreadInput(input)) return;
    counted(`refused for good: ${input.kind}`);
    finalRefusals.push({ key: { tenant, thread: id }, inputId: input.id });
    if (world().durable.log.byInput({ tenant, thread: id }, input.id) !== null)
      return witness('V3', `${input.id} was refused for good and is decided in the log`);
    const state = thread({ tenant, thread: id });
    if (state !== null && decide(state, input, anyMoment(state)).committed)
      witness('V3', `${input.id} was refused for good from a stale state: the log accepts it`);
  }

  function witness(id: InvariantId, text: string): void {
    if (witnessed.length < 20) witnessed.push({ id, text });
  }

  return {
    posts,
    thread,
    witness,
    appended: (commit) => {
      sightings.push(commit);
      if (commit.inputs.length > 1) counted('commit of several inputs');
      for (const event of openOnce(commit).events) counted(pathOf(event));
      for (const effect of openOnce(commit).effects) if (effect.do === 'InvokeTool') invocable.add(effect.toolCallId);
    },
    decided: (node, delivery, version) => {
      if (version !== null || delivery.what !== 'input') return;
      const { tenant, thread: id, input } = delivery;
      if (putAside.has(`${node} ${tenant}:${id} ${input.id}`)) counted('input put aside');
      else refused(delivery);
    },
    refusedInReplay: (key, inputId) => void finalRefusals.push({ key, inputId }),
    held: ({ thread }) => void held.add(thread),
    handedOver: ({ effect }) => {
      handed.add(effect.id);
      if (effect.do === 'InvokeTool') handed.add(effect.toolCallId);
    },
    applied: (node, { name, about }) => {
      if (name === 'inputs.publish' && about.includes(' t:')) counted('timer fired');
      if (name === 'parked.add') putAside.add(`${node} ${about}`);
      if (name === 'ledger.read' || name === 'ledger.claim') lookups.set(`${node} ${about}`, moment());
      if (name !== 'ledger.settle' || recorded.has(about)) return;
      for (const [row, { outcome }] of world().durable.ledger.entries)
        if (outcome === 'refused' && row.endsWith(`:${about}`)) recorded.set(about, moment());
    },
    post: (node, post) => {
      if (!invocable.has(post.toolCallId)) witness('I-05', `${post.toolCallId} was POSTed before it was committed`);
      posts.push({ ...post, lookedUpAt: lookups.get(`${node} ${post.toolCallId}`) ?? moment() });
    },
    notice: (notice) => void notices.push(notice),
    callback: (callback) => void callbacks.push(callback),
    request: (request) => void requests.push(request),
    prompt: (prompt) => void prompts.push(prompt),
    slot: (step) => {
      if (step.step === 'served') counted('slot waited for');
      slots.push(step);
    },
    wiped: (what) => {
      counted(`${what} wiped`);
      wipes.push({
        what,
        heads: world()
          .threads()
          .flatMap((key) => world().commits(key).slice(-1)),
      });
    },
    watching: (stream) => void streams.push(stream),
    token: (token) => void tokens.add(token),
    history: (unrest) => ({
      threads: world()
        .threads()
        .map((key) => ({ key, commits: world().commits(key) })),
      sightings,
      requests,
      callbacks,
      posts,
      notices,
      recordedRefusals: [...recorded].map(([toolCallId, recordedAt]) => ({ toolCallId, recordedAt })),
      finalRefusals,
      prompts,
      snapshots: world()
        .threads()
        .flatMap((key) => {
          const snapshot = world().durable.snapshots.get(threadName(key));
          return snapshot === undefined ? [] : [{ key, snapshot }];
        }),
      streams,
      slots,
      wipes,
      handedOver: handed,
      held,
      canaries: Object.fromEntries(tenants.map((tenant) => [tenant, `${tenant}-canary`])),
      secrets: [...tokens],
      unrest,
      witnessed,
    }),
  };
}

/** How often things happened, where it matters how. */
function pathOf(event: RecordedEvent): string {
  if (event.type === 'ToolCallSettled') return `settled: ${event.outcome}`;
  if (event.type === 'ChoiceSettled')
    return event.decision === undefined ? 'choice settled' : `approval: ${event.decision}`;
  return event.type === 'CompletionRecorded' && event.interrupted ? 'CompletionRecorded, interrupted' : event.type;
}

/** A moment for a decision that is never stored. */
function anyMoment(thread: Thread): Moment {
  return {
    now: thread.updatedAt,
    streamed: null,
    sha256: (text) => text,
    nextTime: () => null,
    mint: (prefix, position) => `${prefix}_${position}`,
  };
}
