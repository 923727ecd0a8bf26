import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RecordingModel, startRecordingModel } from '../conformance/recording-model.ts';
import { eventsOf, eventually, openThread, say } from '../e2e/conversation.ts';
import { cleanUp, type Json, scratchDirectory, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { connectionFlags, launcher, runCli } from './cli-process.ts';

let here: Standalone;
let there: Standalone;
let models: RecordingModel;
beforeAll(async () => {
  [here, there, models] = await Promise.all([startStandalone(), startStandalone(), startRecordingModel()]);
});
afterAll(async () => {
  await models.close();
  await cleanUp();
});

const image = Buffer.alloc(90_000, 'pixels ').toString('base64');
const longText = 'once upon a time '.repeat(8_000);

/** An agent of both installations, whose model answers every prompt alike and shows what it was asked. */
async function agentOfBoth(name: string, script: Parameters<RecordingModel['plays']>[0]): Promise<readonly Json[]> {
  const { model, prompts } = models.plays(script);
  for (const at of [here, there]) {
    const answer = await at.request('POST', '/v1/agents', { name, model: { ...model, images: true } });
    expect(answer.status, answer.text).toBe(201);
  }
  return prompts;
}

const endOf = async (at: Standalone, thread: string): Promise<number> => (await eventsOf(at, thread)).length;

async function fork(at: Standalone, thread: string, position: number): Promise<string> {
  const answer = await at.request('POST', `/v1/threads/${thread}/fork`, { position });
  expect(answer.status, answer.text).toBe(201);
  return answer.json.id;
}

async function ok(at: Standalone, ...args: readonly string[]): Promise<string> {
  const run = await runCli([...connectionFlags(at), ...args]);
  expect(run, run.stderr).toMatchObject({ code: 0 });
  return run.stdout;
}

async function exported(thread: string): Promise<string> {
  const file = join(await scratchDirectory(), 'thread.ndjson');
  await ok(here, 'export', thread, file);
  return file;
}

const imported = async (file: string): Promise<{ readonly thread: string; readonly position: number }> =>
  JSON.parse(await ok(there, '--json', 'import', file)) as { thread: string; position: number };

const threadsOf = async (at: Standalone): Promise<readonly string[]> =>
  (await at.request('GET', '/v1/threads')).json.data.map(({ id }: Json) => id as string);

const messagesOf = async (at: Standalone, thread: string): Promise<readonly string[]> =>
  (await at.request('GET', `/v1/threads/${thread}/messages`)).json.data.map(
    ({ role, text }: Json) => `${role}: ${text}`,
  );

/** A thread with an image and a long text, forked before its last turn; the fork has gone on. */
async function picturedFork(agent: string): Promise<{ readonly origin: string; readonly thread: string }> {
  const origin = await openThread(here, agent);
  const content = [
    { type: 'image', data: image, media_type: 'image/png' },
    { type: 'text', text: longText },
  ];
  const sent = await here.request(
    'POST',
    `/v1/threads/${origin}/messages`,
    { content },
    { headers: { prefer: 'wait=60' } },
  );
  expect(sent.status, sent.text).toBe(200);
  const position = await endOf(here, origin);
  await say(here, origin, 'what nobody else hears');
  const thread = await fork(here, origin, position);
  await say(here, thread, 'and in the fork');
  return { origin, thread };
}

/** The same commits with hashes that hold. */
function rechained(commits: readonly Json[]): readonly Json[] {
  let prev = '';
  return commits.map((commit) => {
    const { tenant, thread, version, count, inputs, at, nonce, trace, kid, body } = commit;
    const fields = JSON.stringify([prev, tenant, thread, version, count, inputs, at, nonce, trace, kid]);
    const hash = createHash('sha256').update(`${fields}\n${body}`).digest('hex');
    const sealed = { ...commit, prev, hash };
    prev = hash;
    return sealed;
  });
}

/** A place where no file may be larger than so many kibibytes, as on a full disk. */
async function runLimited(
  kibibytes: number,
  args: readonly string[],
): Promise<{ code: number | null; stderr: string }> {
  const command = `ulimit -f ${kibibytes}; exec "$@"`;
  const child = spawn('bash', ['-c', command, 'bash', process.execPath, launcher, ...args]);
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stderr })));
}

describe('a file of a thread', () => {
  it('of a fork with an image brings all of it: read, verified and forked, the model sees the same', async () => {
    const prompts = await agentOfBoth('seer', [[{ text: 'seen' }]]);
    const { thread } = await picturedFork('seer');
    const position = await endOf(here, thread);
    const file = await exported(thread);
    expect((await runCli(['verify', file])).stdout).toMatch(/The chain holds: .* 2 threads, 2 payloads/);
    expect(await readFile(file, 'utf8')).not.toContain('what nobody else hears');

    const moved = await imported(file);
    expect(moved.position).toBe(position);
    expect(await ok(there, 'verify', moved.thread)).toContain('The chain holds');
    expect(await messagesOf(there, moved.thread)).toEqual(await messagesOf(here, thread));
    await say(here, await fork(here, thread, position), 'go on');
    await say(there, await fork(there, moved.thread, position), 'go on');
    const [asked, askedThere] = prompts.slice(-2);
    expect(JSON.stringify(asked.messages)).toContain(image);
    expect(JSON.stringify(asked.messages)).toContain(longText);
    expect(askedThere.messages).toEqual(asked.messages);
    expect(askedThere.tools).toEqual(asked.tools);
  });

  it('sent twice is one thread; exported again from there it is the same conversation', async () => {
    await agentOfBoth('twice', [[{ text: 'seen' }]]);
    const { thread } = await picturedFork('twice');
    const file = await exported(thread);
    const moved = await imported(file);
    const known = await threadsOf(there);
    expect(await imported(file)).toEqual(moved);
    expect(await threadsOf(there)).toEqual(known);
    expect(known).toContain(moved.thread);
    expect((await there.request('GET', `/v1/threads/${moved.thread}`)).json).toMatchObject({ status: 'closed' });
    const again = join(await scratchDirectory(), 'again.ndjson');
    await ok(there, 'export', moved.thread, again);
    const back = JSON.parse(await ok(here, '--json', 'import', again)) as Json;
    expect(await messagesOf(here, back.thread)).toEqual(await messagesOf(here, thread));
  });

  it('of a child brings its parent up to there', async () => {
    const prompts = await agentOfBoth('parental', (prompt) => {
      const words = JSON.stringify(prompt.messages.at(-1));
      return words.includes('delegate')
        ? [{ tool_call: { name: 'spawn_thread', arguments: { instructions: 'count the stars' } } }]
        : [{ text: 'counted' }];
    });
    const parent = await openThread(here, 'parental');
    await say(here, parent, 'please delegate');
    const child = await eventually(async () => {
      const { data } = (await here.request('GET', `/v1/threads/${parent}/children`)).json;
      return data[0]?.status === 'idle' && (data[0].id as string);
    });
    const position = await endOf(here, child);
    const moved = await imported(await exported(child));
    const copy = (await there.request('GET', `/v1/threads/${moved.thread}`)).json;
    expect(copy).toMatchObject({ status: 'closed', parent: copy.family });
    expect(await messagesOf(there, copy.parent)).toContain('user: please delegate');
    await say(here, await fork(here, child, position), 'go on');
    await say(there, await fork(there, moved.thread, position), 'go on');
    const [asked, askedThere] = prompts.slice(-2);
    expect(JSON.stringify(asked.messages)).toContain('please delegate');
    expect(askedThere.messages).toEqual(asked.messages);
  });

  it('that is not whole, or needs what is not there, is refused with its line, and nothing of it is seen', async () => {
    await agentOfBoth('broken', [[{ text: 'seen' }]]);
    const { thread } = await picturedFork('broken');
    const whole = (await readFile(await exported(thread), 'utf8')).trimEnd().split('\n');
    const file = join(await scratchDirectory(), 'broken.ndjson');
    const known = await threadsOf(there);
    const refusalOf = async (lines: readonly string[]): Promise<string> => {
      await writeFile(file, lines.join('\n'));
      const run = await runCli([...connectionFlags(there), 'import', file]);
      expect(run.code).not.toBe(0);
      expect(await threadsOf(there)).toEqual(known);
      return run.stderr;
    };
    const payload = whole.findIndex((line) => line.startsWith('{"blob"'));
    const without = (line: number): readonly string[] => whole.toSpliced(line, 1);
    expect(await refusalOf(whole.slice(0, -1))).toContain('the file was cut off');
    expect(await refusalOf(without(payload))).toContain('which is not in the file before it');
    expect(await refusalOf(whole.with(payload, (whole[payload] ?? '').replace('"data":"', '"data":"AAAA')))).toContain(
      `is broken at line ${payload + 1}: it was changed`,
    );
    expect(await refusalOf(without(whole.length - 2))).toContain(`line ${whole.length - 1}: it counts`);
    const alone = await here.request('POST', '/v1/agents', { name: 'alone', model: { provider: 'demo' } });
    expect(alone.status).toBe(201);
    const stranger = await exported(await openThread(here, 'alone'));
    expect(await refusalOf((await readFile(stranger, 'utf8')).split('\n'))).toMatch(
      /line 1 was refused: it needs the agent alone, version 1/,
    );
  });

  it('of which one field is no such thing is refused with its line', async () => {
    const plain = { name: 'plain', model: { provider: 'demo' } };
    for (const at of [here, there]) expect((await at.request('POST', '/v1/agents', plain)).status).toBe(201);
    const thread = await openThread(here, 'plain');
    await say(here, thread, 'one');
    const file = await exported(thread);
    const [first = '', second = '', ...rest] = (await readFile(file, 'utf8')).trimEnd().split('\n');
    const commits = [first, second, ...rest.slice(0, -1)].map((line) => JSON.parse(line) as Json);
    const forged = rechained(commits.map((commit, index) => (index === 1 ? { ...commit, nonce: '\ud800' } : commit)));
    await writeFile(
      file,
      [...forged, rest.at(-1)].map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
    );
    const run = await runCli([...connectionFlags(there), 'import', file]);
    expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining(`${file}, line 2 was refused: it `) });
  });

  it('is a file: what can be read only once, or not at all, is not imported', async () => {
    await agentOfBoth('piped', [[{ text: 'heard' }]]);
    const thread = await openThread(here, 'piped');
    await say(here, thread, 'one');
    const file = await exported(thread);
    const pipe = join(await scratchDirectory(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const writing = spawn('sh', ['-c', 'cat "$0" > "$1"', file, pipe]);
    const known = await threadsOf(there);
    for (const path of [pipe, dirname(pipe)])
      expect(await runCli([...connectionFlags(there), 'import', path])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('is no file'),
      });
    writing.kill();
    expect(await threadsOf(there)).toEqual(known);
  });

  it('is all there, or not there at all', async () => {
    await agentOfBoth('full', [[{ text: 'heard' }]]);
    const thread = await openThread(here, 'full');
    for (let turn = 0; turn < 3; turn += 1) await say(here, thread, 'word '.repeat(12_000));
    const directory = await scratchDirectory();
    const flags = [...connectionFlags(here), 'export', thread, join(directory, 'full.ndjson')];
    const run = await runLimited(100, flags);
    expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining('could not be written') });
    expect(await readdir(directory)).toEqual([]);
    expect(await runLimited(20_000, flags)).toMatchObject({ code: 0 });
  });

  it('that takes more than one request is one thread', async () => {
    await agentOfBoth('long', [[{ text: 'heard' }]]);
    const thread = await openThread(here, 'long');
    for (let turn = 0; turn < 36; turn += 1) await say(here, thread, `${turn} `.repeat(30_000).slice(0, 60_000));
    const run = await runCli([...connectionFlags(there), 'import', await exported(thread)]);
    expect(run.code, run.stderr).toBe(0);
    expect(run.stderr.match(/ commits/g)?.length).toBeGreaterThan(1);
    const moved = /^imported as (thr_\w+)/.exec(run.stdout)?.[1] ?? '';
    expect(await messagesOf(there, moved)).toEqual(await messagesOf(here, thread));
  });

  it('holds payloads as large as one message brings them', async () => {
    await agentOfBoth('large', [[{ text: 'seen' }]]);
    const thread = await openThread(here, 'large');
    const largest = 8 * 1024 * 1024 - 100;
    const data = Buffer.alloc((largest - (largest % 4)) * 0.75, 7).toString('base64');
    const content = [{ type: 'image', data, media_type: 'image/png' }];
    const sent = await here.request(
      'POST',
      `/v1/threads/${thread}/messages`,
      { content },
      { headers: { prefer: 'wait=60' } },
    );
    expect(sent.status, sent.text.slice(0, 500)).toBe(200);
    const moved = await imported(await exported(thread));
    const asked = JSON.stringify(await eventsOf(there, moved.thread));
    const sha256 = /"blob":"([0-9a-f]{64})"/.exec(asked)?.[1] ?? '';
    const bytes = await fetch(`${there.url}/v1/threads/${moved.thread}/blobs/${sha256}`, {
      headers: { authorization: `Bearer ${there.key}` },
    });
    expect(bytes.headers.get('content-type')).toBe('image/png');
    expect((await bytes.arrayBuffer()).byteLength).toBe(Buffer.byteLength(data, 'base64'));
  });
});
