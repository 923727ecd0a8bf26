// A data directory that the release before wrote (commit eab37ed), as a SIGKILL left it: its newest commits are in the
// write-ahead log. It opens, has every event, and its threads go on.
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, say, untilStatus } from '../e2e/conversation.ts';
import { cleanUp, scratchDirectory, type Standalone, startStandalone } from '../e2e/standalone-process.ts';

const fixture = join(import.meta.dirname, 'fixtures', 'eab37ed');

interface Expected {
  readonly threads: Readonly<
    Record<'idle' | 'waiting' | 'sleeping', { readonly id: string; readonly types: string[] }>
  >;
  /** Of the call that the thread `waiting` waits for. */
  readonly callbackPath: string;
  readonly call: string;
}

let at: Standalone;
let expected: Expected;

beforeAll(async () => {
  expected = JSON.parse(await readFile(join(fixture, 'expected.json'), 'utf8')) as Expected;
  const dataDir = await scratchDirectory();
  for (const file of ['dormouse.db', 'dormouse.db-wal'])
    await writeFile(join(dataDir, file), gunzipSync(await readFile(join(fixture, `${file}.gz`))));
  for (const file of ['key', 'master-key']) await copyFile(join(fixture, file), join(dataDir, file));
  at = await startStandalone({ dataDir, args: ['--no-example-tools'] });
});
afterAll(cleanUp);

const typesOf = async (thread: string): Promise<readonly string[]> =>
  (await eventsOf(at, thread)).map(({ type }) => type);

describe('a database of the release before', () => {
  it.each(['idle', 'waiting', 'sleeping'] as const)('has every event of the thread that is %s', async (name) => {
    const { id, types } = expected.threads[name];
    expect(await typesOf(id)).toEqual(types);
  });

  it('goes on with a conversation', async () => {
    const { id, types } = expected.threads.idle;
    expect(await say(at, id, 'still there?')).toMatchObject({ status: 'idle' });
    expect((await typesOf(id)).slice(types.length)).toEqual([
      'message_accepted',
      'completion_requested',
      'completion_recorded',
    ]);
  });

  it('takes the result of a call that was sent before, once', async () => {
    const { id } = expected.threads.waiting;
    const result = { type: 'tool_result', id: expected.call, group_id: id, text: 'done' };
    for (let nth = 0; nth < 2; nth += 1) {
      const answer = await at.request('POST', expected.callbackPath, result, { key: null });
      expect(answer.status).toBe(200);
    }
    await untilStatus(at, id, 'idle');
    const types = await typesOf(id);
    expect(types.filter((type) => type === 'tool_call_settled')).toHaveLength(1);
    expect(types.at(-1)).toBe('completion_recorded');
  });

  it('opens again after that', async () => {
    const { dataDir } = at;
    expect(await at.stop()).toBe(0);
    at = await startStandalone({ dataDir, args: ['--no-example-tools'] });
    expect((await typesOf(expected.threads.idle.id)).length).toBe(expected.threads.idle.types.length + 3);
  });
});
