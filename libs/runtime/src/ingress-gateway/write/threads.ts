// Opening, reading, listing and labelling threads.
//
// Invariants:
//   T1. The row comes first, with everything its opening needs; then the opening is published. A process that dies
//       between leaves a row that the sweeper, or the next request, opens.
//   T2. The thread's id is a function of a request with an idempotency key; opening it twice opens it once. (client-id
//       K1)
//   T4. A thread that the tenant's quotas, or its waiting inputs, leave no room for is refused; one that is there
//       already is answered as ever.
//   T5. A fork of a thread that has been gone since its row was written is undone: a removal that was asked before has
//       not seen it. (family-visit V4)
//   T3. A fork uses its agent's version as it is here: what an imported log says about it is not trusted.
import { canonicalJson } from '@dormouse/json';
import type {
  Agent,
  Agents,
  PageRequest,
  ThreadDirectory,
  ThreadFilter,
  ThreadKey,
  ThreadRow,
  TenantId,
  Page,
} from '@dormouse/ports';
import type { IngressParts } from '../ingress-ports.ts';
import { openCommit } from '../../log/envelope.ts';
import { firstWords, inputIds, type OpeningAgent, statusOf, type Thread, type ThreadOpening } from '@dormouse/thread';
import { loadThread } from '../../log/thread-reader.ts';
import { publicId, type RequestOrigin } from '../access/client-id.ts';
import { type MessageItem, storeContent } from './message-content.ts';
import { answered, type Answered, invalid, notFound, refused } from '../refusal.ts';
import { unknownName } from '../registry/known-names.ts';
import { createCallTimes } from '../read/call-times.ts';
import { slotWait } from '../read/slot-wait.ts';
import { isGone } from '../../retention/gone-thread.ts';
import {
  type LiveCompletion,
  type ThreadSummary,
  threadSummary,
  type ThreadView,
  threadView,
  unknownLive,
} from '../read/thread-view.ts';
import { questionsBelow, questionsOfRows, shownFilter } from '../read/questions-below.ts';
import { readWaiting } from '../read/waiting.ts';

export interface NewThread {
  readonly agent: string;
  readonly agentVersion: number | null;
  readonly userId: string | null;
  readonly title: string | null;
  readonly externalId: string | null;
  /** What to do when the external id is taken; null: the same again is fine, anything else is refused. */
  readonly ifExists: 'return' | 'fail' | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly message: readonly MessageItem[] | null;
  /** Names of the agents whose threads the credential reaches; null, or absent, for all. */
  readonly reaches?: readonly string[] | null;
}

export interface ThreadPatch {
  readonly title?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface ThreadApi {
  open(
    tenant: TenantId,
    wanted: NewThread,
    origin: RequestOrigin,
  ): Promise<Answered<{ readonly thread: ThreadView; readonly created: boolean }>>;
  /** The thread now, or as of `at` events. */
  get(key: ThreadKey, at?: number): Promise<Answered<ThreadView>>;
  list(tenant: TenantId, filter: ThreadFilter, page: PageRequest): Promise<Page<ThreadSummary>>;
  patch(key: ThreadKey, patch: ThreadPatch): Promise<Answered<ThreadView>>;
  /** A new root with the history of another thread up to a position. */
  fork(key: ThreadKey, fork: ForkRequest, origin: RequestOrigin): Promise<Answered<ThreadView>>;
}

export interface ForkRequest {
  readonly position: number;
  /** Whether the model is asked at once, or waits for a message. */
  readonly askAgain: boolean;
}

export type ThreadPorts = Pick<
  IngressParts,
  | 'agents'
  | 'directory'
  | 'log'
  | 'snapshots'
  | 'blobs'
  | 'bus'
  | 'feed'
  | 'ledger'
  | 'parked'
  | 'inbox'
  | 'remover'
  | 'toolServers'
  | 'clock'
  | 'threads'
  | 'mintName'
  | 'limits'
>;

export function createThreadApi(ports: ThreadPorts): ThreadApi {
  const { agents, directory } = ports;
  return {
    async open(tenant, wanted, origin) {
      const agent = await findAgent(agents, tenant, wanted);
      if (!agent.ok) return agent;
      const name = ports.mintName(origin);
      const { externalId } = wanted;
      const wish = { tenant, thread: publicId('thr', name), externalId, asks: wanted.message !== null };
      const outcome = await insertRow(ports, wish, () => newRow(ports, tenant, wanted, agent.value, name)); // (T1)
      if (!outcome.ok) return outcome;
      const { row, existing } = outcome.value;
      if (existing === null) return answered({ thread: await publishOpening(ports, row), created: true });
      if (!(wanted.reaches?.includes(existing.agent) ?? true))
        return refused('ALREADY_EXISTS', 'A thread that this key does not reach has this external_id.', {
          errors: [{ pointer: '/external_id', detail: 'is taken' }],
        });
      // (T2) the same request again: its row is there, its opening perhaps not
      if (existing.thread === row.thread)
        return answered({ thread: await publishOpening(ports, existing), created: true });
      if (wanted.ifExists === 'return' || (wanted.ifExists === null && isSame(existing, row))) {
        return answered({ thread: await viewOf(ports, existing), created: false });
      }
      return refused('ALREADY_EXISTS', 'Another thread has this external_id.', {
        errors: [{ pointer: '/external_id', detail: `taken by ${existing.thread}` }],
      });
    },
    async get(key, at) {
      const row = await rowOf(ports, key);
      if (row === null) return notFound('thread');
      const view = await viewOf(ports, row, at);
      if (at !== undefined && view.position < at)
        return invalid([{ pointer: '/at', detail: 'is beyond the last event' }]);
      return answered(view);
    },
    async list(tenant, filter, page) {
      // rows hold the agent's name; an id that no agent has finds nothing by itself
      const agent =
        filter.agent === undefined ? undefined : ((await agents.latest(tenant, filter.agent))?.name ?? filter.agent);
      const rows = await directory.list(tenant, await shownFilter(ports.inbox, tenant, { ...filter, agent }), page);
      const asked = await questionsOfRows(ports.inbox, tenant, rows.data);
      return { data: rows.data.map((row) => threadSummary(row, asked)), nextCursor: rows.nextCursor };
    },
    async patch(key, patch) {
      if (patch.title !== undefined) await bringUpToDate(ports, key);
      const row = await directory.patch(key, patch);
      return row === null ? notFound('thread') : answered(await viewOf(ports, row));
    },
    async fork(key, wanted, origin) {
      const source = await rowOf(ports, key);
      if (source === null) return notFound('thread');
      const { thread } = await loadThread(ports, key, wanted.position);
      if (await isErased(ports, key)) return refused('CONTENT_ERASED', 'The contents of this thread were erased.');
      if (wanted.position < 1 || thread.position < wanted.position)
        return invalid([{ pointer: '/position', detail: `must be a position of the thread, 1 to ${thread.position}` }]);
      const agent = await agents.version(key.tenant, thread.agent.name, thread.agent.version);
      if (agent === null)
        return invalid([
          { pointer: '', detail: 'needs the version of the agent that the thread has, which is not here' },
        ]);
      const name = ports.mintName(origin);
      const wish = { ...key, thread: publicId('thr', name), externalId: null, asks: wanted.askAgain };
      const make = async () => forkedRow(ports, source, { ...wanted, agent, userId: thread.userId }, name);
      const outcome = await insertRow(ports, wish, make); // (T1)
      if (!outcome.ok) return outcome;
      const { row, existing } = outcome.value;
      if (existing === null && (await rowOf(ports, key)) === null) {
        await ports.remover.remove(row.tenant, [row.thread], 'everything'); // (T5)
        return notFound('thread');
      }
      return answered(await publishOpening(ports, existing ?? row));
    },
  };
}

/** Its own contents, not those that it inherits. */
async function isErased({ log }: Pick<ThreadPorts, 'log'>, key: ThreadKey): Promise<boolean> {
  const ends = [(await log.read(key, 0, 1))[0], await log.head(key)];
  return ends
    .flatMap((commit) => (commit === undefined || commit === null ? [] : openCommit(commit).events))
    .some((event) => event.type === 'ContentErased' && event.scope !== 'inherited');
}

/** Null for one that does not exist, or is being removed. */
async function rowOf({ directory }: Pick<ThreadPorts, 'directory'>, key: ThreadKey): Promise<ThreadRow | null> {
  const row = await directory.get(key);
  return row === null || isGone(row) ? null : row;
}

interface OpeningWish extends ThreadKey {
  readonly externalId: string | null;
  /** Whether the model is asked at once. */
  readonly asks: boolean;
}

/** `existing` is the row that has the id, or the external id, already. (T4) */
async function insertRow(
  { directory, limits }: ThreadPorts,
  { tenant, thread, externalId, asks }: OpeningWish,
  make: () => Promise<ThreadRow>,
): Promise<Answered<{ readonly row: ThreadRow; readonly existing: ThreadRow | null }>> {
  const mayGoOn = await (asks ? limits.mayAsk(tenant) : limits.mayStore(tenant));
  const entry = mayGoOn.ok ? limits.mayEnter(tenant) : mayGoOn;
  const room = entry.ok ? await limits.openThread(tenant) : entry;
  if (!room.ok) {
    const existing = (await directory.get({ tenant, thread })) ?? (await withExternalId(directory, tenant, externalId));
    return existing === null ? room : answered({ row: await make(), existing });
  }
  let isNew = false;
  try {
    const row = await make();
    const outcome = await directory.insert(row);
    isNew = outcome.inserted;
    return answered({ row, existing: outcome.inserted ? null : outcome.existing });
  } finally {
    room.value?.ended(isNew);
  }
}

async function withExternalId(
  directory: ThreadDirectory,
  tenant: TenantId,
  externalId: string | null,
): Promise<ThreadRow | null> {
  if (externalId === null) return null;
  return (await directory.list(tenant, { externalId }, { limit: 1, cursor: null })).data[0] ?? null;
}

async function findAgent(agents: Agents, tenant: TenantId, wanted: NewThread): Promise<Answered<Agent>> {
  const { agent: name, agentVersion } = wanted;
  const latest = await agents.latest(tenant, name);
  if (latest === null) {
    const detail = await unknownName('agent', name, (page) => agents.list(tenant, page));
    return invalid([{ pointer: '/agent', detail }]);
  }
  if (agentVersion === null) return answered(latest);
  const agent = await agents.version(tenant, name, agentVersion);
  return agent === null
    ? invalid([{ pointer: '/agent_version', detail: 'the agent has no such version' }])
    : answered(agent);
}

async function newRow(
  ports: ThreadPorts,
  tenant: TenantId,
  wanted: NewThread,
  agent: Agent,
  name: string,
): Promise<ThreadRow> {
  const thread = publicId('thr', name);
  const now = ports.clock.now();
  const { userId, title, externalId, metadata } = wanted;
  const message =
    wanted.message === null
      ? null
      : { messageId: publicId('msg', name), content: await storeContent(ports, { tenant, thread }, wanted.message) };
  const opening = openingOf(thread, agent, { userId, message });
  const words = message === null ? null : firstWords(message.content);
  return {
    tenant,
    thread,
    ...(words === null ? {} : { firstWords: words }),
    status: 'opening',
    agent: agent.name,
    agentVersion: agent.version,
    parent: null,
    family: thread,
    userId,
    externalId,
    title,
    metadata,
    createdAt: now,
    updatedAt: now,
    position: 0,
    opening,
  };
}

const openingAgent = ({ name, version, toolServers, policies, limits, model }: Agent): OpeningAgent => ({
  ...{ name, version, toolServers, policies, limits },
  model: model.name === '' ? model.provider : model.name,
});

const openingOf = (
  thread: string,
  agent: Agent,
  { userId, message, ...fork }: Pick<ThreadOpening, 'userId' | 'message' | 'fork'>,
): ThreadOpening => ({
  ...{ kind: 'ThreadOpening', id: inputIds.opening(thread), agent: openingAgent(agent), userId },
  title: null, // the row's title is the client's to change; the log has none of its own to bring back
  ...{ message, ...fork },
});

function forkedRow(
  ports: ThreadPorts,
  source: ThreadRow,
  { position, askAgain, agent, userId }: ForkRequest & { readonly agent: Agent; readonly userId: string | null },
  name: string,
): ThreadRow {
  const thread = publicId('thr', name);
  const now = ports.clock.now();
  const fork = { from: { threadId: source.thread, position }, askAgain };
  const opening = openingOf(thread, agent, { userId, message: null, fork }); // (T3)
  const { waitingOn: _, leavingAt: __, ...labels } = source;
  return {
    ...labels,
    ...{ thread, family: thread, parent: null, externalId: null, status: 'opening', position: 0, opening },
    ...{ createdAt: now, updatedAt: now, forkedFrom: source.thread },
  };
}

async function publishOpening(ports: ThreadPorts, row: ThreadRow): Promise<ThreadView> {
  if (row.opening !== null) await ports.bus.publish({ tenant: row.tenant, thread: row.thread }, row.opening);
  ports.threads.remember({ tenant: row.tenant, thread: row.thread });
  return viewOf(ports, row);
}

/** Copies a title that is newer in the log into the row before the row gets another: the last title stays. */
async function bringUpToDate({ directory, ...ports }: ThreadPorts, key: ThreadKey): Promise<void> {
  const row = await directory.get(key);
  const { thread } = await loadThread(ports, key);
  if (row === null || row.status === 'parked' || row.position >= thread.titledAt) return;
  const { title, titledAt, updatedAt, position } = thread;
  await directory.project([{ ...key, status: statusOf(thread), title, titledAt, updatedAt, position }]);
}

async function viewOf(ports: ThreadPorts, row: ThreadRow, at?: number): Promise<ThreadView> {
  const key = { tenant: row.tenant, thread: row.thread };
  if (at !== undefined) {
    const { thread } = await loadThread(ports, key, at);
    return threadView(row.status !== 'parked' ? row : { ...row, status: statusOf(thread) }, thread, unknownLive, null);
  }
  const times = createCallTimes();
  const loaded = await loadThread(ports, key, undefined, times.see);
  const live = await liveCompletion(ports, key, loaded.thread);
  const questions = await questionsBelow(ports.inbox, key, row.family);
  const waiting = await readWaiting(ports, row, { ...loaded, live, times, questions });
  return threadView(row, loaded.thread, live, waiting, questions);
}

async function liveCompletion({ feed }: ThreadPorts, key: ThreadKey, { completion }: Thread): Promise<LiveCompletion> {
  if (completion === null) return unknownLive;
  const retrying = await feed.retrying(key);
  return {
    slot: slotWait(await feed.soFar(key)),
    retrying: retrying?.completionId === completion.completionId ? retrying : null,
  };
}

function isSame(existing: ThreadRow, wanted: ThreadRow): boolean {
  const content = ({ agent, userId, title, metadata }: ThreadRow): string =>
    canonicalJson({ agent, userId, title, metadata });
  return content(existing) === content(wanted);
}
