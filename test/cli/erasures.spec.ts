// `dormouse erasures`: asks, lists, shows, and hands the list over to what was restored.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, openThread, say } from '../e2e/conversation.ts';
import { cleanUp, scratchDirectory, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { type CliRun, connectionFlags, runCli } from './cli-process.ts';

let at: Standalone;
let scratch: string;
beforeAll(async () => {
  [at, scratch] = [await startStandalone(), await scratchDirectory()];
});
afterAll(cleanUp);

const erasures = (...args: readonly string[]): Promise<CliRun> => runCli([...connectionFlags(at), 'erasures', ...args]);

const requested = async (...args: readonly string[]): Promise<string> => {
  const asked = await erasures('request', ...args, '--yes', '--json');
  expect(asked).toMatchObject({ code: 0 });
  const { id } = JSON.parse(asked.stdout);
  await eventually(async () => JSON.parse((await erasures('get', id, '--json')).stdout).state === 'done');
  return id;
};

it('says that nothing was erased before anything was', async () => {
  expect(await erasures()).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringContaining('Nothing was erased.'),
  });
  expect(await erasures('list', '--json')).toMatchObject({ code: 0, stdout: '' });
});

it('erases a thread and a user, lists both, and shows the certificate', async () => {
  const thread = await openThread(at);
  await say(at, thread, 'Hello');
  const asked = await erasures('request', '--thread', thread, '--yes');
  expect(asked).toMatchObject({ code: 0, stdout: expect.stringMatching(/is being erased|is erased/) });
  const id = await requested('--thread', thread); // the same one
  expect(asked.stdout).toContain(id);
  await openThread(at, 'assistant', { user_id: 'ann' });
  const ofUser = await requested('--user', 'ann');

  expect(JSON.parse((await erasures('get', id)).stdout)).toMatchObject({ id, scope: 'family', families: [thread] });
  const lines = (await erasures('list', '--json')).stdout.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).id)).toEqual([ofUser, id]);
  const listed = (await erasures()).stdout;
  expect(listed).toMatch(new RegExp(`^${id} +family +${thread} +done +\\S+ +1$`, 'm'));
  expect(listed).toMatch(new RegExp(`^${ofUser} +user +hmac:[0-9a-f]+\\S* +done`, 'm'));
});

it('exports into a new file, never over another, and applies it: again changes nothing', async () => {
  const file = join(scratch, 'erasures.ndjson');
  expect(await erasures('export', file)).toMatchObject({ code: 0, stderr: expect.stringContaining('2 erasures') });
  const written = readFileSync(file, 'utf8');
  expect(await erasures('export', file)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is there already'),
  });
  expect(readFileSync(file, 'utf8')).toBe(written);

  const done = (): Promise<string> =>
    eventually(async () => {
      const { stdout } = await erasures('list', '--json');
      return !stdout.includes('"running"') && stdout;
    });
  expect(await erasures('apply', file)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^3 erasures are asked for again/),
  });
  const before = await done(); // the user's thread is named alone too
  expect(before.trim().split('\n')).toHaveLength(3);
  expect(await erasures('apply', file)).toMatchObject({ code: 0 });
  expect(await done()).toBe(before);
  const strange = { scope: 'family', subject: 'thr_00000000000000000000000000', certificate: null };
  writeFileSync(file, `${JSON.stringify(strange)}\n\n`);
  const absent = await erasures('apply', file, '--json');
  expect(JSON.parse(absent.stdout)).toEqual({ applied: 0, absent: 1 });
});

it.each([
  [['request'], 2, 'either --thread ID or --user ID'],
  [['request', '--thread', 'thr_1', '--user', 'ann', '--yes'], 2, 'either --thread ID or --user ID'],
  [['request', '--user', 'ann'], 2, 'add --yes'],
  [['request', '--whom', 'ann'], 2, '--whom'],
  [['request', '--thread', 'thr_00000000000000000000000000', '--yes'], 1, 'There is no such thread'],
  [['get', 'ers_00000000000000000000000000'], 1, 'There is no such erasure'],
  [['get'], 2, 'id'],
  [['apply'], 2, 'file'],
])('`erasures %j` ends with %i and says why', async (args, code, words) => {
  const run = await erasures(...args);
  expect(run, run.stderr).toMatchObject({ code, stdout: '' });
  expect(run.stderr).toContain(words);
});

it.each(['{"id":"ers_1"}', 'no JSON', '[]'])('a file with the line %s is no list of erasures', async (line) => {
  const file = join(scratch, `bad-${Buffer.from(line).toString('hex')}`);
  writeFileSync(file, `${line}\n`);
  expect(await erasures('apply', file)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no list of erasures'),
  });
});
