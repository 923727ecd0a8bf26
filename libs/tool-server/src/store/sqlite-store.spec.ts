import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { serve } from '../serve.ts';
import { later, quickDelivery, temporaryFolder } from '../spec/bench.ts';
import { startForeignRuntime } from '../spec/foreign-runtime.ts';
import { defineTool } from '../define/tool.ts';
import { createVault } from '../ask/vault.ts';

/** The tables of a data directory of release 0.1.0, as far as calls are concerned. */
const version2 = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, sealed BLOB NOT NULL) WITHOUT ROWID;
  CREATE TABLE calls (
    thread TEXT NOT NULL, call TEXT NOT NULL, state TEXT NOT NULL, operation TEXT NOT NULL, sealed BLOB,
    at INTEGER NOT NULL, restarts INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (thread, call)) WITHOUT ROWID;
  CREATE INDEX calls_by_state ON calls (state, at);
  CREATE TABLE outbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, lane TEXT NOT NULL, message TEXT NOT NULL, sealed BLOB NOT NULL,
    subscription TEXT, at INTEGER NOT NULL, due INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0);
  CREATE TABLE subscriptions (
    id TEXT PRIMARY KEY, thread TEXT NOT NULL, call TEXT NOT NULL, tool TEXT NOT NULL, sealed BLOB NOT NULL,
    at INTEGER NOT NULL, expires INTEGER NOT NULL, UNIQUE (thread, call)) WITHOUT ROWID;
  CREATE TABLE events (subscription TEXT NOT NULL, event TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (subscription, event)) WITHOUT ROWID;
  CREATE TABLE threads (thread TEXT PRIMARY KEY, seen INTEGER NOT NULL) WITHOUT ROWID;
  ALTER TABLE calls ADD COLUMN asking INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE questions (
    path TEXT PRIMARY KEY, thread TEXT NOT NULL, call TEXT NOT NULL, ordinal INTEGER NOT NULL, sealed BLOB NOT NULL,
    expires INTEGER NOT NULL, UNIQUE (thread, call, ordinal)) WITHOUT ROWID;
  PRAGMA user_version = 2`;

it('T26 a data directory of the release before keeps its calls, questions and subscriptions', async () => {
  const [dataDir, encryptionKey] = [await temporaryFolder(), new Uint8Array(32).fill(7)];
  const runtime = await startForeignRuntime('');
  later(runtime.close);
  const vault = createVault(encryptionKey);
  const old = new DatabaseSync(join(dataDir, 'tool-server.db'));
  old.exec(version2);
  const now = Date.now();
  const path = '/choice/question';
  const insertCall = old.prepare('INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, 0, ?)');
  for (const [id, operation, state, asking] of [
    ['asking', 'pick', 'running', 1],
    ['watching', 'watch', 'subscribed', 0],
    ['ended', 'pick', 'ended', 0],
  ] as const) {
    const call = {
      id,
      groupId: 'thread',
      callbackUrl: `${runtime.url}/callback`,
      operation,
      arguments: {},
      rootThreadId: 'thread',
    };
    insertCall.run('thread', id, state, operation, state === 'ended' ? null : vault.seal('call', call), now, asking);
    if (id === 'watching') {
      const sealed = vault.seal('subscription', { address: call, family: 'thread', data: 'news' });
      const oldId = `sub_${vault.digest(JSON.stringify(['thread', id])).slice(0, 22)}`;
      old
        .prepare('INSERT INTO subscriptions VALUES (?, ?, ?, ?, ?, ?, ?)')
        .run(oldId, 'thread', id, 'watch', sealed, now, now + 1e9);
    }
  }
  const asked = vault.digest(JSON.stringify(['Which?', ['left', 'right'], 0]));
  old
    .prepare('INSERT INTO questions VALUES (?, ?, ?, 0, ?, ?)')
    .run(vault.digest(`question ${path}`), 'thread', 'asking', vault.seal('question', { asked }), now + 1e6);
  old.close();

  const input = z.strictObject({});
  const watch = defineTool(
    { name: 'watch', description: 'Subscribes.', input, resume: (subscription) => void subscription.emit('resumed') },
    async (_given, context) => void (await context.subscribe()),
  );
  const pick = defineTool(
    { name: 'pick', description: 'Asks.', input, onRestart: 'rerun_if_asking' },
    async (_given, context) =>
      (await context.choose({ prompt: 'Which?', choices: ['left', 'right'], default: 0 })).label,
  );
  const options = {
    name: 'bench',
    tools: [watch, pick],
    dataDir,
    encryptionKey,
    delivery: quickDelivery,
    log: () => {},
  };
  const server = await serve(options);
  later(server.close);
  runtime.use(server.url);
  expect(await runtime.nth('subscription_event', 'watching', 1)).toMatchObject({ text: 'resumed', final: false });
  expect(await runtime.choose({ id: 'asking', response_url: `${server.url}${path}` }, 1)).toBe(200);
  expect(await runtime.nth('tool_result', 'asking', 1)).toMatchObject({ text: 'right' });
  expect(await runtime.ask({ operation: 'pick', id: 'ended', thread: 'thread' })).toMatch(/result is not remembered/);
  await runtime.cancel('watching', 'thread');
  await expect.poll(() => server.subscriptions().length).toBe(0);
});
