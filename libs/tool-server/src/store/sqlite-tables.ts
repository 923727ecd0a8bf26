/**
 * Owns: the tables of a store as SQL. Not here: the file and its schema (`sqlite-store.ts`).
 */
import type { SqlValue } from './sqlite.ts';
import type { CallRow, CallTable, EventTable, LoginTable, MemoryEntries, MessageRow, MessageTable } from './store.ts';
import type { QuestionTable, Store, SubscriptionTable, ThreadTable, TokenTable, Values, ViewTable } from './store.ts';

/** One statement at a time, prepared once. `Found` are the columns that it selects, by name. */
export interface Sql {
  /** The number of changed rows. */
  readonly run: (sql: string, ...values: SqlValue[]) => number;
  readonly all: <Found>(sql: string, ...values: SqlValue[]) => Found[];
  readonly one: <Found>(sql: string, ...values: SqlValue[]) => Found | undefined;
}

export function sqliteTables(sql: Sql): Omit<Store, 'vault' | 'transaction' | 'copyInto' | 'close'> {
  return {
    values: values(sql),
    calls: calls(sql),
    messages: messages(sql),
    subscriptions: subscriptions(sql),
    events: events(sql),
    threads: threads(sql),
    memory: memory(sql),
    views: views(sql),
    logins: logins(sql),
    tokens: tokens(sql),
    questions: questions(sql),
  };
}

type SealedColumn = Pick<MessageRow, 'sealed'>;

const values = (sql: Sql): Values => ({
  get: (name) => sql.one<SealedColumn>('SELECT sealed FROM meta WHERE name = ?', name)?.sealed,
  add: (name, sealed) => void sql.run('INSERT INTO meta VALUES (?, ?)', name, sealed),
});

function calls(sql: Sql): CallTable {
  const keep = `CASE WHEN ?1 = 'ended' THEN NULL ELSE sealed END`;
  return {
    add({ key, thread, call, operation, sealed, at, work, delivery }) {
      const insert = `INSERT INTO calls (key, thread, call, state, operation, sealed, at, work, delivery)
        VALUES (?, ?, ?, 'running', ?, ?, ?, ?, ?)`;
      sql.run(insert, key, thread, call, operation, sealed, at, work, delivery);
    },
    get: (key) => callRow(sql.one<CallColumns>('SELECT * FROM calls WHERE key = ?', key)),
    repeated({ thread, call, work, delivery }, since) {
      const recently = `delivery IS NOT NULL OR state = 'running' OR at > ?5`;
      const isSame = `work IS NULL OR (work = ?3 AND delivery IS ?4 AND (${recently}))`;
      const where = `thread = ?1 AND call = ?2 AND (${isSame}) ORDER BY at DESC LIMIT 1`;
      return callRow(sql.one<CallColumns>(`SELECT * FROM calls WHERE ${where}`, thread, call, work, delivery, since));
    },
    keysOf: (thread, call) =>
      sql
        .all<{ readonly key: string }>('SELECT key FROM calls WHERE thread = ? AND call = ?', thread, call)
        .map(({ key }) => key),
    move(key, from, to) {
      const where = `key = ?2 AND state IN (${from.map((state) => `'${state}'`).join()})`;
      return sql.run(`UPDATE calls SET state = ?1, sealed = ${keep} WHERE ${where}`, to, key) > 0;
    },
    answer: (key, answer) => void sql.run('UPDATE calls SET answer = ? WHERE key = ?', answer, key),
    setAsking: (key, isAsking) => void sql.run('UPDATE calls SET asking = ? WHERE key = ?', Number(isAsking), key),
    countRestart: () => void sql.run(`UPDATE calls SET restarts = restarts + 1 WHERE state = 'running' AND asking = 0`),
    open: () =>
      sql
        .all<CallColumns>(`SELECT * FROM calls WHERE state <> 'ended' ORDER BY at, key`)
        .flatMap((row) => callRow(row) ?? []),
    sweep({ before, rowsMax, answersBytesMax }) {
      sql.run(`DELETE FROM calls WHERE state = 'ended' AND at < ?`, before);
      const oldest = `SELECT at FROM calls WHERE state = 'ended' ORDER BY at DESC LIMIT 1 OFFSET ?`;
      sql.run(`DELETE FROM calls WHERE state = 'ended' AND at <= (${oldest})`, rowsMax);
      const sums = `SELECT key, sum(length(answer)) OVER (ORDER BY at DESC, key) AS bytes FROM calls WHERE answer IS NOT NULL`;
      const beyond = `SELECT key FROM (${sums}) WHERE bytes > ?`;
      sql.run(`UPDATE calls SET answer = NULL WHERE key IN (${beyond})`, answersBytesMax);
    },
  };
}

type CallColumns = Omit<CallRow, 'isAsking'> & { readonly asking: number };

const callRow = (row: CallColumns | undefined): CallRow | undefined => row && { ...row, isAsking: row.asking === 1 };

function messages(sql: Sql): MessageTable {
  const countOf = (where: string, ...values: string[]): number =>
    sql.one<{ readonly n: number }>(`SELECT count(*) AS n FROM outbox ${where}`, ...values)?.n ?? 0;
  return {
    add({ lane, message, sealed, subscription, at, due }) {
      const insert =
        'INSERT INTO outbox (lane, message, sealed, subscription, at, due) VALUES (?, ?, ?, ?, ?, ?) RETURNING seq';
      return Number(sql.one<{ readonly seq: number }>(insert, lane, message, sealed, subscription, at, due)?.seq);
    },
    get: (seq) => sql.one('SELECT * FROM outbox WHERE seq = ?', seq),
    all: () => sql.all('SELECT seq, lane FROM outbox ORDER BY seq'),
    retry: (seq, attempts, due) =>
      void sql.run('UPDATE outbox SET attempts = ?, due = ? WHERE seq = ?', attempts, due, seq),
    delete: (seq) => void sql.run('DELETE FROM outbox WHERE seq = ?', seq),
    deleteOf: (subscription) => sql.run('DELETE FROM outbox WHERE subscription = ?', subscription),
    count: () => countOf(''),
    countOf: (subscription) => countOf('WHERE subscription = ?', subscription),
  };
}

const subscriptions = (sql: Sql): SubscriptionTable => ({
  add({ id, thread, call, tool, sealed, at, expires }) {
    const insert = 'INSERT OR IGNORE INTO subscriptions VALUES (?, ?, ?, ?, ?, ?, ?)';
    return sql.run(insert, id, thread, call, tool, sealed, at, expires) > 0;
  },
  all: () => sql.all('SELECT * FROM subscriptions ORDER BY at, id'),
  of: (thread) => sql.all('SELECT * FROM subscriptions WHERE thread = ?', thread),
  expired: (now) =>
    sql.all<{ readonly id: string }>('SELECT id FROM subscriptions WHERE expires <= ?', now).map(({ id }) => id),
  delete: (id) => void sql.run('DELETE FROM subscriptions WHERE id = ?', id),
});

const events = (sql: Sql): EventTable => ({
  add: (subscription, event, at) =>
    sql.run('INSERT OR IGNORE INTO events VALUES (?, ?, ?)', subscription, event, at) > 0,
  sweep(before, endedBefore) {
    sql.run('DELETE FROM events WHERE at < ? AND subscription NOT IN (SELECT id FROM subscriptions)', endedBefore);
    sql.run('DELETE FROM events WHERE at < ?', before);
  },
});

const threads = (sql: Sql): ThreadTable => ({
  seen: (thread, at) =>
    void sql.run('INSERT INTO threads VALUES (?1, ?2) ON CONFLICT DO UPDATE SET seen = ?2', thread, at),
  delete: (thread) => void sql.run('DELETE FROM threads WHERE thread = ?', thread),
  silentSince: (before) =>
    sql
      .all<{ readonly thread: string }>(
        'SELECT thread FROM threads WHERE seen < ? AND thread NOT IN (SELECT thread FROM subscriptions)',
        before,
      )
      .map(({ thread }) => thread),
});

const memory = (sql: Sql): MemoryEntries => ({
  get: (thread, name) =>
    sql.one<SealedColumn>('SELECT sealed FROM memory WHERE thread = ? AND name = ?', thread, name)?.sealed,
  set(thread, name, sealed) {
    const upsert = 'INSERT INTO memory VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET sealed = ?3';
    sql.run(upsert, thread, name, sealed);
  },
  addMissing: (thread, name, sealed) =>
    void sql.run('INSERT OR IGNORE INTO memory VALUES (?, ?, ?)', thread, name, sealed),
  delete: (thread, name) => void sql.run('DELETE FROM memory WHERE thread = ? AND name = ?', thread, name),
  of: (thread) => sql.all('SELECT name, sealed FROM memory WHERE thread = ?', thread),
  deleteOf: (thread) => void sql.run('DELETE FROM memory WHERE thread = ?', thread),
});

const views = (sql: Sql): ViewTable => ({
  add: (thread, type) => void sql.run('INSERT OR REPLACE INTO views VALUES (?, ?)', thread, type),
  delete: (thread, type) => sql.run('DELETE FROM views WHERE thread = ? AND type = ?', thread, type) > 0,
  deleteOf: (thread) => void sql.run('DELETE FROM views WHERE thread = ?', thread),
});

const logins = (sql: Sql): LoginTable => ({
  add: (state, sealed, expires) => void sql.run('INSERT INTO authorizations VALUES (?, ?, ?)', state, sealed, expires),
  take: (state) => sql.one('DELETE FROM authorizations WHERE state = ? RETURNING sealed, expires', state),
  sweep: (now) => void sql.run('DELETE FROM authorizations WHERE expires < ?', now),
});

const tokens = (sql: Sql): TokenTable => ({
  get: (provider, owner) =>
    sql.one<SealedColumn>('SELECT sealed FROM tokens WHERE provider = ? AND owner = ?', provider, owner)?.sealed,
  set: (provider, owner, sealed, at) =>
    void sql.run('INSERT OR REPLACE INTO tokens VALUES (?, ?, ?, ?)', provider, owner, sealed, at),
  delete: (provider, owner) => void sql.run('DELETE FROM tokens WHERE provider = ? AND owner = ?', provider, owner),
});

const questions = (sql: Sql): QuestionTable => ({
  get: (path) => sql.one('SELECT * FROM questions WHERE path = ?', path),
  at: (key, ordinal) => sql.one('SELECT * FROM questions WHERE key = ? AND ordinal = ?', key, ordinal),
  place({ path, key, call, ordinal, sealed, expires }) {
    sql.run('DELETE FROM questions WHERE key = ? AND ordinal >= ?', key, ordinal);
    sql.run('INSERT INTO questions VALUES (?, ?, ?, ?, ?, ?)', path, key, call, ordinal, sealed, expires);
  },
  answer: (path, sealed) => void sql.run('UPDATE questions SET sealed = ? WHERE path = ?', sealed, path),
  sweep(now) {
    const running = `SELECT 1 FROM calls WHERE calls.key = questions.key AND state = 'running'`;
    sql.run(`DELETE FROM questions WHERE expires < ? AND NOT EXISTS (${running})`, now);
  },
});
