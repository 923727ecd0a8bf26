/**
 * Owns: what is kept per thread: its last sign of life, what tools remember of it, which views it shows.
 *
 * H1. Everything of a thread is deleted when it closes, or when it had no sign of life for `threadMsMax` and has no
 *     subscription: closing notices may never arrive. T36 T37
 * H2. A view is cleared only if it was shown: no message for a view that has nothing to show. T44
 */
import { encodeCallback } from '@dormouse/protocol';
import type { CallAddress } from './call-address.ts';
import type { Database } from './database.ts';
import type { Outbox } from '../outbox/outbox.ts';

/** What a tool remembers of a thread and the threads opened from it, until the root thread closes. JSON values. */
export interface ThreadMemory {
  readonly get: (name: string) => unknown;
  readonly set: (name: string, value: unknown) => void;
  readonly delete: (name: string) => void;
}

export interface ThreadStore {
  readonly seen: (...threadIds: string[]) => void;
  readonly memoryOf: (rootThreadId: string) => ThreadMemory;
  readonly sendView: (address: CallAddress, type: string, content: object, clean: (text: string) => string) => void;
  /** All that is remembered of a family, by name. */
  readonly remembered: (rootThreadId: string) => Readonly<Record<string, unknown>>;
  /** Adds what another server remembered; existing values stay. */
  readonly remember: (rootThreadId: string, memory: Readonly<Record<string, unknown>>) => void;
  readonly drop: (threadId: string) => void;
  /** Threads without a sign of life since `before`. (H1) */
  readonly silentSince: (before: number) => readonly string[];
}

export function createThreadStore(database: Database, outbox: Outbox): ThreadStore {
  const seen: ThreadStore['seen'] = (...threadIds) => {
    for (const thread of new Set(threadIds))
      database.run('INSERT INTO threads VALUES (?1, ?2) ON CONFLICT DO UPDATE SET seen = ?2', thread, Date.now());
  };
  return {
    seen,
    remembered: (root) =>
      Object.fromEntries(
        database
          .all('SELECT name, sealed FROM memory WHERE thread = ?', root)
          .map((row) => [String(row['name']), database.vault.open('memory', row['sealed'])]),
      ),
    remember: (root, memory) =>
      database.transaction(() => {
        seen(root);
        for (const [name, value] of Object.entries(memory)) {
          const sealed = database.vault.seal('memory', value);
          database.run('INSERT OR IGNORE INTO memory VALUES (?, ?, ?)', root, name, sealed);
        }
      }),
    memoryOf: (root) => ({
      get(name) {
        const row = database.one('SELECT sealed FROM memory WHERE thread = ? AND name = ?', root, name);
        return row === undefined ? undefined : database.vault.open('memory', row['sealed']);
      },
      set(name, value) {
        const upsert = 'INSERT INTO memory VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET sealed = ?3';
        database.run(upsert, root, name, database.vault.seal('memory', value));
      },
      delete: (name) => void database.run('DELETE FROM memory WHERE thread = ? AND name = ?', root, name),
    }),
    sendView(address, type, content, clean) {
      const { groupId, callbackUrl, trace } = address;
      const isEmpty = Object.keys(content).length === 0;
      const shown = cleaned(content, clean) as { [name: string]: unknown };
      const body = JSON.stringify(encodeCallback({ type: 'view_update', groupId, viewType: type, content: shown }));
      database.transaction(() => {
        const changes = isEmpty
          ? database.run('DELETE FROM views WHERE thread = ? AND type = ?', groupId, type)
          : database.run('INSERT OR REPLACE INTO views VALUES (?, ?)', groupId, type);
        if (changes > 0) outbox.add({ callbackUrl, threadId: groupId, body, trace }); // (H2)
      });
    },
    drop(thread) {
      for (const table of ['memory', 'views', 'threads']) database.run(`DELETE FROM ${table} WHERE thread = ?`, thread);
    },
    silentSince: (before) =>
      database
        .all('SELECT thread FROM threads WHERE seen < ? AND thread NOT IN (SELECT thread FROM subscriptions)', before)
        .map((row) => String(row['thread'])),
  };
}

/** The same JSON with every text cleaned, except image data. T22 */
export function cleaned(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map((member) => cleaned(member, clean));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, name === 'data' ? member : cleaned(member, clean)]),
  );
}
