import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openDatabase } from './database.ts';
import { defineTool } from '../define/tool.ts';
import { bench, temporaryFolder } from '../spec/bench.ts';
import { eventually } from '../spec/callback-sink.ts';

const input = z.strictObject({});
const pick = defineTool(
  { name: 'pick', description: 'Asks.', input },
  async (_given, context) => (await context.choose({ prompt: 'Which?', choices: ['left', 'right'], default: 0 })).label,
);
const watch = defineTool(
  { name: 'watch', description: 'Subscribes.', input },
  async (_given, context) => void (await context.subscribe({ data: { topic: 'news' } })),
);
const remember = defineTool({ name: 'remember', description: 'Counts.', input }, (_given, { memory }) => {
  const runs = Number(memory.get('runs') ?? 0) + 1;
  memory.set('runs', runs);
  return runs;
});

describe('a Node without node:sqlite', () => {
  const getBuiltinModule = process.getBuiltinModule.bind(process);
  beforeEach(() => {
    process.getBuiltinModule = ((name: string) =>
      name === 'node:sqlite' ? undefined : getBuiltinModule(name)) as typeof getBuiltinModule;
  });
  afterEach(() => void (process.getBuiltinModule = getBuiltinModule));

  it('T8 T27 T43 serves results, subscriptions, questions and memory, all in memory', async () => {
    const at = await bench({ tools: [pick, watch, remember] });
    expect([await at.ask('remember'), await at.ask('remember')]).toEqual(['1', '2']);
    const id = await at.invoke('watch');
    await at.sink.resultOf(id);
    const [subscription] = at.server.subscriptions();
    expect(subscription?.data).toEqual({ topic: 'news' });
    expect([subscription?.emit('one', { eventId: '1' }), subscription?.emit('one', { eventId: '1' })]).toEqual([
      'emitted',
      'duplicate',
    ]);
    await at.post('/cancel_tool_call', { thread_id: 'thr_1', tool_call_id: id });
    await eventually(() => at.server.subscriptions().length === 0, 'the end of the subscription');
    const asked = await at.invoke('pick');
    await eventually(() => at.sink.delivered.some(({ callback }) => callback.type === 'user_choice'), 'the question');
    const question = at.sink.delivered.map(({ callback }) => callback).find(({ type }) => type === 'user_choice');
    if (question?.type !== 'user_choice') throw new Error('no question');
    expect((await at.post(new URL(question.responseUrl).pathname, { id: asked, selected: 1 })).status).toBe(200);
    expect((await at.sink.resultOf(asked)).text).toBe('right');
    at.server.sweep();
    expect(at.log.filter((line) => /fail|threw|cannot/.test(line))).toEqual([]);
  });

  it('undoes a transaction that fails', () => {
    const database = openDatabase();
    const add = (): number => database.run('INSERT INTO threads VALUES (?, ?)', 'thr_1', 1);
    expect(() =>
      database.transaction(() => {
        add();
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(database.all('SELECT * FROM threads')).toEqual([]);
    expect(add()).toBe(1);
    database.close();
  });

  it('says what a data directory needs, and makes none', async () => {
    const folder = join(await temporaryFolder(), 'data');
    expect(() => openDatabase(folder)).toThrow(
      /a data directory needs Node 22\.16 or newer \(node:sqlite\), and this is v/,
    );
    expect(existsSync(folder)).toBe(false);
  });
});
