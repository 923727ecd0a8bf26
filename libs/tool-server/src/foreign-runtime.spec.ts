import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createCallLedger } from './call/call-ledger.ts';
import type { OutgoingMessage } from './outbox/outbox.ts';
import { serve } from './serve.ts';
import type { ServeOptions } from './define/serve-options.ts';
import { later, quickDelivery, temporaryFolder } from './spec/bench.ts';
import { createMemoryStore } from './store/memory-store.ts';
import { openSqliteStore } from './store/sqlite-store.ts';
import { eventually, quiet } from './spec/callback-sink.ts';
import { start } from './spec/child-server.ts';
import { type ForeignRuntime, startForeignRuntime } from './spec/foreign-runtime.ts';
import { defineTool } from './define/tool.ts';
import { failed } from './define/tool-output.ts';
import type { ToolServer } from './define/tool-server.ts';

let runs = 0;
const count = defineTool(
  { name: 'count', description: 'Counts its runs.', input: z.strictObject({ to: z.string().default('') }) },
  ({ to }) => `run ${(runs += 1)} ${to}`,
);
const hang = defineTool(
  { name: 'hang', description: 'Works until it is stopped.', input: z.strictObject({ mark: z.string().default('') }) },
  async ({ mark }, { signal }) => sleep(600_000, mark, { signal }),
);
const watch = defineTool(
  { name: 'watch', description: 'Subscribes.', input: z.strictObject({ topic: z.string().default('news') }) },
  async ({ topic }, context) => void (await context.subscribe({ text: `Watching ${topic}.`, data: topic })),
);
const pick = defineTool(
  { name: 'pick', description: 'Asks.', input: z.strictObject({ prompt: z.string().default('Which?') }) },
  async ({ prompt }, context) => (await context.choose({ prompt, choices: ['left', 'right'], default: 0 })).label,
);
const tools = [count, hang, watch, pick];

interface Rig {
  readonly runtime: ForeignRuntime;
  readonly server: ToolServer;
  readonly log: string[];
}

async function rig(options: Partial<ServeOptions> = {}): Promise<Rig> {
  const log: string[] = [];
  const limits = { closeMsMax: 100 };
  const server = await serve({
    name: 'bench',
    tools,
    delivery: quickDelivery,
    log: (line) => log.push(line),
    limits,
    ...options,
  });
  later(server.close);
  const runtime = await startForeignRuntime(server.url);
  later(runtime.close);
  return { runtime, server, log };
}

const long = (letter: string): string => letter.repeat(5_000);

describe('ids of another runtime', () => {
  it('T12 T13 of 5 000 characters come back as they came, in every message', async () => {
    const { runtime, server } = await rig();
    const [id, thread, callId] = [long('i'), long('t'), long('c')];
    const echo = { group_id: thread, id, call_id: callId };
    expect(await runtime.ask({ operation: 'count', id, thread, callId })).toMatch(/^run/);
    expect(runtime.messages[0]).toMatchObject(echo);
    await runtime.invoke({ operation: 'pick', id: `${id}2`, thread, callId });
    const question = await runtime.nth('user_choice', `${id}2`, 1);
    expect(await runtime.choose(question, 1)).toBe(200);
    expect(await runtime.nth('tool_result', `${id}2`, 1)).toMatchObject({
      text: 'right',
      group_id: thread,
      call_id: callId,
    });
    await runtime.ask({ operation: 'watch', id: `${id}3`, thread });
    const [subscription] = server.subscriptions();
    subscription?.emit('it rains');
    subscription?.view('chart', { a: 1 });
    expect(await runtime.nth('subscription_event', `${id}3`, 1)).toMatchObject({ text: 'it rains', group_id: thread });
    await eventually(() => runtime.messages.some((each) => each['type'] === 'view_update'), 'the view');
    await runtime.invoke({ operation: 'hang', id: `${id}4`, thread });
    await runtime.cancel(`${id}3`, thread);
    await eventually(() => server.subscriptions().length === 0, 'the end of the subscription');
    await runtime.closeThread(thread);
    expect(await runtime.ask({ operation: 'count', id: `${id}5`, thread })).toMatch(/^run/);
  });

  it('T13 that are empty, a `call_id` for example, refuse nothing', async () => {
    const { runtime } = await rig();
    await runtime.ask({ operation: 'count', id: 'call_0', callId: '' });
    expect(runtime.messages[0]).toMatchObject({ id: 'call_0', call_id: '', text: expect.stringMatching(/^run/) });
    await runtime.ask({ operation: 'count', id: 'call_1', callId: null });
    expect(runtime.messages[1]).not.toHaveProperty('call_id');
  });

  it('T11 T26 of 5 000 characters do not keep the next process from starting', async () => {
    const dataDir = await temporaryFolder();
    const runtime = await startForeignRuntime('');
    later(runtime.close);
    const resultOf = (): never => {
      throw new Error('not asked for');
    };
    const first = await start(dataDir, { url: runtime.url, resultOf });
    runtime.use(first.url);
    const id = long('i');
    expect(await runtime.invoke({ operation: 'work', arguments: { ms: 60_000 }, id })).toBe(200);
    await eventually(() => first.printed().includes('began'), 'the call');
    await first.kill();
    await start(dataDir, { url: runtime.url, resultOf });
    expect((await runtime.nth('tool_result', id, 1))['text']).toMatch(/^Error: the tool server was restarted/);
  });

  it('T11 T24 that come again are other calls: each is run and each gets its own result', async () => {
    const { runtime } = await rig();
    const first = await runtime.ask({ operation: 'count', arguments: { to: 'a' }, id: 'call_0' });
    const second = await runtime.ask({ operation: 'count', arguments: { to: 'b' }, id: 'call_0' });
    expect([first, second]).toEqual([expect.stringMatching(/^run \d+ a$/), expect.stringMatching(/^run \d+ b$/)]);
    await runtime.invoke({ operation: 'hang', id: 'call_0' }); // while another one of that id runs
    expect(await runtime.ask({ operation: 'count', arguments: { to: 'c' }, id: 'call_0' })).toMatch(/ c$/);
    expect(runtime.about('tool_result', 'call_0').length).toBe(3);
  });

  it('T11 that come again for the very same call soon get its result again; later it is a new call', async () => {
    const { runtime } = await rig();
    const call = { operation: 'count', arguments: { to: 'same' }, id: 'call_0' };
    const first = await runtime.ask(call);
    expect(await runtime.ask(call)).toBe(first);
    const realNow = Date.now;
    later(async () => void (Date.now = realNow));
    Date.now = () => realNow() + 120_000;
    const third = await runtime.ask(call);
    Date.now = realNow;
    expect(third).not.toBe(first);
  });

  it('T11 T30 that come again subscribe again, ask again, and are cancelled together', async () => {
    const { runtime, server } = await rig();
    await runtime.ask({ operation: 'watch', arguments: { topic: 'a' }, id: 'call_0' });
    await runtime.ask({ operation: 'watch', arguments: { topic: 'b' }, id: 'call_0' });
    expect(server.subscriptions().map((each) => each.data)).toEqual(['a', 'b']);
    await runtime.invoke({ operation: 'pick', arguments: { prompt: 'A?' }, id: 'call_1' });
    await runtime.invoke({ operation: 'pick', arguments: { prompt: 'B?' }, id: 'call_1' });
    const questions = [await runtime.nth('user_choice', 'call_1', 1), await runtime.nth('user_choice', 'call_1', 2)];
    for (const question of questions)
      expect(await runtime.choose(question, question['prompt'] === 'A?' ? 0 : 1)).toBe(200);
    await runtime.nth('tool_result', 'call_1', 2);
    expect(new Set(runtime.about('tool_result', 'call_1').map((each) => each['text']))).toEqual(
      new Set(['left', 'right']),
    );
    await runtime.cancel('call_0');
    await eventually(() => server.subscriptions().length === 0, 'the end of both');
  });

  it('T28 T30 are what a confirmation tells the model, and what cancels the subscription', async () => {
    const { runtime, server } = await rig();
    const text = await runtime.ask({ operation: 'watch', id: 'call_0' });
    const told = /Subscription ID: (\S+)$/.exec(text)?.[1] ?? '';
    expect(server.subscriptions().length).toBe(1);
    await runtime.cancel(told);
    await eventually(() => server.subscriptions().length === 0, 'the end of the subscription');
  });

  it('T36 that were cancelled, or belong to a call of another server, may be used again', async () => {
    const { runtime } = await rig();
    await runtime.ask({ operation: 'count', arguments: { to: 'a' }, id: 'call_0' });
    await runtime.cancel('call_0'); // too late
    expect(await runtime.ask({ operation: 'count', arguments: { to: 'b' }, id: 'call_0' })).toMatch(/ b$/);
    await runtime.cancel('call_7'); // arrives before its call
    expect(await runtime.ask({ operation: 'count', arguments: { to: 'c' }, id: 'call_7' })).toMatch(/cancelled/);
    expect(await runtime.ask({ operation: 'count', arguments: { to: 'd' }, id: 'call_7' })).toMatch(/ d$/);
  });
});

describe('a call that cannot be written down', () => {
  /** No runtime can send an empty `group_id`; a data directory may hold one. */
  const unspeakable = {
    id: 'call_0',
    groupId: '',
    callbackUrl: 'http://127.0.0.1:1/callback',
    operation: 'count',
    arguments: {},
    rootThreadId: 'r',
  };

  it('T11 ends without a result and with one line in the log', () => {
    const store = createMemoryStore();
    const [sent, log]: [OutgoingMessage[], string[]] = [[], []];
    const outbox = { add: (message: OutgoingMessage) => void sent.push(message) };
    const ledger = createCallLedger(store, outbox as Parameters<typeof createCallLedger>[1], (line) => log.push(line));
    const { call } = ledger.take(unspeakable);
    expect(ledger.settle(call, failed('no'), (text) => text)).toBe(false);
    expect(ledger.left()).toEqual([]);
    expect([sent, log]).toEqual([[], [expect.stringMatching(/^count call_0 ends without a result/)]]);
  });

  it('T26 does not keep the others from being recovered', async () => {
    const dataDir = await temporaryFolder();
    const encryptionKey = new Uint8Array(32).fill(7);
    const store = openSqliteStore(dataDir, encryptionKey);
    const outbox = { add: () => {} };
    const ledger = createCallLedger(store, outbox as unknown as Parameters<typeof createCallLedger>[1], () => {});
    const runtime = await startForeignRuntime('');
    later(runtime.close);
    ledger.take(unspeakable);
    ledger.take({ ...unspeakable, id: 'call_1', groupId: 'thread', callbackUrl: `${runtime.url}/callback` });
    store.close();
    const { server } = await rig({ dataDir, encryptionKey });
    expect((await runtime.nth('tool_result', 'call_1', 1))['text']).toMatch(/^Error: the tool server was restarted/);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    await quiet();
    expect(runtime.messages.length).toBe(1);
  });
});
