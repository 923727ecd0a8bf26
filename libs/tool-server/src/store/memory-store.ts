/**
 * Owns: the store of a tool server without a data directory: memory of this process, or of this isolate. It needs
 * nothing of Node, so that it runs where there is no SQLite.
 *
 * 1. It behaves as the file does (`store.contract.ts`), except that it ends with its process.
 */
import { randomBytes } from 'node:crypto';
import { createJournal, createMemoryTable, type Journal } from './memory-table.ts';
import type { CallRow, CallTable, EventTable, LoginTable, MemoryEntries, MessageRow, MessageTable } from './store.ts';
import type { QuestionRow, QuestionTable, Sealed, Store, SubscriptionRow, SubscriptionTable } from './store.ts';
import type { ThreadTable, TokenTable, Values, ViewTable } from './store.ts';
import { createVault, vaultKeyBytes } from '../ask/vault.ts';

/** `encryptionKey` of 32 bytes; default: one of its own. */
export function createMemoryStore(encryptionKey: Uint8Array = randomBytes(vaultKeyBytes)): Store {
  const journal = createJournal();
  const calls = callTable(journal);
  const subscriptions = subscriptionTable(journal);
  return {
    vault: createVault(encryptionKey),
    transaction: journal.transaction,
    values: valueTable(journal),
    calls,
    messages: messageTable(journal),
    subscriptions,
    events: eventTable(journal, subscriptions),
    threads: threadTable(journal, subscriptions),
    memory: memoryEntries(journal),
    views: viewTable(journal),
    logins: loginTable(journal),
    tokens: tokenTable(journal),
    questions: questionTable(journal, calls),
    copyInto() {
      throw new Error('a tool server without `dataDir` has nothing to copy');
    },
    close() {},
  };
}

const keyOf = (...parts: readonly (string | number)[]): string => JSON.stringify(parts);

function valueTable(journal: Journal): Values {
  const rows = createMemoryTable<{ readonly name: string; readonly sealed: Sealed }>(journal, ({ name }) => name, {});
  return { get: (name) => rows.get(name)?.sealed, add: (name, sealed) => rows.put({ name, sealed }) };
}

function callTable(journal: Journal): CallTable {
  const rows = createMemoryTable<CallRow, 'call'>(journal, ({ key }) => key, {
    call: ({ thread, call }) => keyOf(thread, call),
  });
  return {
    add: (call) => rows.put({ ...call, state: 'running', restarts: 0, isAsking: false, answer: null }),
    get: rows.get,
    repeated({ thread, call, work, delivery }, since) {
      const isSame = (row: CallRow): boolean =>
        row.work === null ||
        (row.work === work &&
          row.delivery === delivery &&
          (row.delivery !== null || row.state === 'running' || row.at > since));
      return newestFirst(rows.by('call', keyOf(thread, call)).filter(isSame))[0];
    },
    keysOf: (thread, call) => rows.by('call', keyOf(thread, call)).map(({ key }) => key),
    move(key, from, to) {
      const row = rows.get(key);
      if (row === undefined || !from.includes(row.state)) return false;
      rows.put({ ...row, state: to, sealed: to === 'ended' ? null : row.sealed });
      return true;
    },
    answer: (key, answer) => rows.change(key, { answer }),
    setAsking: (key, isAsking) => rows.change(key, { isAsking }),
    countRestart() {
      for (const row of rows.all())
        if (row.state === 'running' && !row.isAsking) rows.put({ ...row, restarts: row.restarts + 1 });
    },
    open: () => newestFirst(rows.all().filter(({ state }) => state !== 'ended')).toReversed(),
    sweep({ before, rowsMax, answersBytesMax }) {
      const ended = newestFirst(rows.all().filter(({ state }) => state === 'ended'));
      const last = ended.filter(({ at }) => at >= before)[rowsMax]?.at ?? Number.NEGATIVE_INFINITY;
      for (const { key, at } of ended) if (at < before || at <= last) rows.delete(key);
      let bytes = 0;
      for (const row of newestFirst(rows.all())) {
        bytes += row.answer?.length ?? 0;
        if (row.answer !== null && bytes > answersBytesMax) rows.put({ ...row, answer: null });
      }
    },
  };
}

const newestFirst = (rows: readonly CallRow[]): CallRow[] =>
  rows.toSorted((one, other) => other.at - one.at || (one.key < other.key ? -1 : 1));

function messageTable(journal: Journal): MessageTable {
  const rows = createMemoryTable<MessageRow, 'subscription'>(journal, ({ seq }) => String(seq), {
    subscription: ({ subscription }) => subscription,
  });
  let last = 0;
  return {
    add(message) {
      last += 1;
      rows.put({ ...message, seq: last, attempts: 0 });
      return last;
    },
    get: (seq) => rows.get(String(seq)),
    all: () => rows.all().toSorted((one, other) => one.seq - other.seq),
    retry: (seq, attempts, due) => rows.change(String(seq), { attempts, due }),
    delete: (seq) => void rows.delete(String(seq)),
    deleteOf(subscription) {
      const some = rows.by('subscription', subscription);
      for (const { seq } of some) rows.delete(String(seq));
      return some.length;
    },
    count: rows.count,
    countOf: (subscription) => rows.by('subscription', subscription).length,
  };
}

function subscriptionTable(journal: Journal): SubscriptionTable {
  const rows = createMemoryTable<SubscriptionRow, 'thread'>(journal, ({ id }) => id, {
    thread: ({ thread }) => thread,
  });
  return {
    add: rows.add,
    all: () => rows.all().toSorted((one, other) => one.at - other.at || (one.id < other.id ? -1 : 1)),
    of: (thread) => rows.by('thread', thread),
    expired: (now) => rows.all().flatMap(({ id, expires }) => (expires <= now ? [id] : [])),
    delete: (id) => void rows.delete(id),
  };
}

function eventTable(journal: Journal, subscriptions: SubscriptionTable): EventTable {
  type EventRow = { readonly subscription: string; readonly event: string; readonly at: number };
  const keyIn = ({ subscription, event }: EventRow): string => keyOf(subscription, event);
  const rows = createMemoryTable<EventRow>(journal, keyIn, {});
  return {
    add: (subscription, event, at) => rows.add({ subscription, event, at }),
    sweep(before, endedBefore) {
      const live = new Set(subscriptions.all().map(({ id }) => id));
      for (const row of rows.all())
        if (row.at < before || (row.at < endedBefore && !live.has(row.subscription))) rows.delete(keyIn(row));
    },
  };
}

function threadTable(journal: Journal, subscriptions: SubscriptionTable): ThreadTable {
  const rows = createMemoryTable<{ readonly thread: string; readonly at: number }>(journal, ({ thread }) => thread, {});
  return {
    seen: (thread, at) => rows.put({ thread, at }),
    delete: (thread) => void rows.delete(thread),
    silentSince: (before) =>
      rows.all().flatMap(({ thread, at }) => (at < before && subscriptions.of(thread).length === 0 ? [thread] : [])),
  };
}

function memoryEntries(journal: Journal): MemoryEntries {
  type Entry = { readonly thread: string; readonly name: string; readonly sealed: Sealed };
  const rows = createMemoryTable<Entry, 'thread'>(journal, ({ thread, name }) => keyOf(thread, name), {
    thread: ({ thread }) => thread,
  });
  return {
    get: (thread, name) => rows.get(keyOf(thread, name))?.sealed,
    set: (thread, name, sealed) => rows.put({ thread, name, sealed }),
    addMissing: (thread, name, sealed) => void rows.add({ thread, name, sealed }),
    delete: (thread, name) => void rows.delete(keyOf(thread, name)),
    of: (thread) => rows.by('thread', thread),
    deleteOf(thread) {
      for (const { name } of rows.by('thread', thread)) rows.delete(keyOf(thread, name));
    },
  };
}

function viewTable(journal: Journal): ViewTable {
  type View = { readonly thread: string; readonly type: string };
  const rows = createMemoryTable<View, 'thread'>(journal, ({ thread, type }) => keyOf(thread, type), {
    thread: ({ thread }) => thread,
  });
  return {
    add: (thread, type) => rows.put({ thread, type }),
    delete: (thread, type) => rows.delete(keyOf(thread, type)),
    deleteOf(thread) {
      for (const { type } of rows.by('thread', thread)) rows.delete(keyOf(thread, type));
    },
  };
}

function loginTable(journal: Journal): LoginTable {
  type Login = { readonly state: string; readonly sealed: Sealed; readonly expires: number };
  const rows = createMemoryTable<Login>(journal, ({ state }) => state, {});
  return {
    add: (state, sealed, expires) => rows.put({ state, sealed, expires }),
    take(state) {
      const row = rows.get(state);
      rows.delete(state);
      return row;
    },
    sweep(now) {
      for (const { state, expires } of rows.all()) if (expires < now) rows.delete(state);
    },
  };
}

function tokenTable(journal: Journal): TokenTable {
  const rows = createMemoryTable<{ readonly key: string; readonly sealed: Sealed }>(journal, ({ key }) => key, {});
  return {
    get: (provider, owner) => rows.get(keyOf(provider, owner))?.sealed,
    set: (provider, owner, sealed) => rows.put({ key: keyOf(provider, owner), sealed }),
    delete: (provider, owner) => void rows.delete(keyOf(provider, owner)),
  };
}

function questionTable(journal: Journal, calls: CallTable): QuestionTable {
  const rows = createMemoryTable<QuestionRow, 'call'>(journal, ({ path }) => path, { call: ({ key }) => key });
  return {
    get: rows.get,
    at: (key, ordinal) => rows.by('call', key).find((row) => row.ordinal === ordinal),
    place(question) {
      for (const { path, ordinal } of rows.by('call', question.key)) if (ordinal >= question.ordinal) rows.delete(path);
      rows.put(question);
    },
    answer: (path, sealed) => rows.change(path, { sealed }),
    sweep(now) {
      for (const { path, key, expires } of rows.all())
        if (expires < now && calls.get(key)?.state !== 'running') rows.delete(path);
    },
  };
}
