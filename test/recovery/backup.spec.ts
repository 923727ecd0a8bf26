// `dormouse backup` of a standalone under load; then it is killed, and its copy started in its place. Everything that
// was acknowledged before the backup began is in the copy, which verifies and goes on. The real programs, real files.
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkHistory, type History, readHistory } from '@dormouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectionFlags, runCli } from '../cli/cli-process.ts';
import { eventually, openThread, say, scriptedAgent, sentCalls, untilStatus } from '../e2e/conversation.ts';
import { driveToolServer, toolCall } from '../e2e/driven-tool-server.ts';
import { cleanUp, type Json, scratchDirectory, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { freePort } from '../services/free-ports.ts';
import { type RecordingToolServer, startRecordingToolServer } from './recording-tool-server.ts';
import { createWorkload } from './workload.ts';

const threadCount = 8;
const dayMs = 86_400_000;

let tools: RecordingToolServer;

beforeAll(async () => {
  tools = await startRecordingToolServer(40);
});
afterAll(async () => {
  await cleanUp();
  await tools.close();
});

const start = (dataDir: string, port: number): Promise<Standalone> =>
  startStandalone({
    dataDir,
    port,
    env: {
      DORMOUSE_TOOL_RETRY_FIRST_MS: '50',
      DORMOUSE_UNKNOWN_OUTCOME_GRACE_MS: '500',
      DORMOUSE_TOOL_ACK_TIMEOUT_MS: '1000',
    },
  });

/** A moment of the original's that no judge knows: after the backup, before its end. */
interface Lost {
  readonly from: number;
  readonly to: number;
}

/** The history as the copy can have it: what the original alone did after the backup is no part of it. */
function ofTheCopy(history: History, { from, to }: Lost): History {
  const calls = new Set(readHistory(history).calls.keys());
  const isLost = (moment: number): boolean => moment >= from && moment <= to;
  return {
    ...history,
    requests: history.requests.filter(({ sentAt, answeredAt }) => (answeredAt ?? 0) < from || sentAt > to),
    posts: history.posts.filter(({ receivedAt }) => !isLost(receivedAt)),
    notices: [],
    callbacks: history.callbacks.filter(({ toolCallId, sentAt }) => calls.has(toolCallId) && !isLost(sentAt)),
  };
}

describe('a backup under load', () => {
  it('I-01 I-03 I-05 I-07 I-10 I-24 restored, has all that was acknowledged before it, verifies, and goes on', async () => {
    const port = await freePort();
    let at = await start(await scratchDirectory(), port);
    const original = at;
    const workload = createWorkload((...request) => at.request(...request));
    const threads = await workload.prepare(tools.url, threadCount);
    const driven = await driveToolServer(at);
    const agent = await scriptedAgent(at, [[toolCall('work')], [{ text: 'the work is done' }]], {
      tool_servers: [driven.name],
    });
    const working = await openThread(at, agent);
    await at.request('POST', `/v1/threads/${working}/messages`, { text: 'work' });
    const invocation = await driven.invocation(0);
    await sentCalls(at, working);
    const sleeping = await openThread(at);
    await say(at, sleeping, 'Sleep for 3 days.');
    const subscribed = await openThread(at);
    await say(at, subscribed, 'Remind me in 8 seconds: "feed the cat"');

    let talking = true;
    const talks = threads.map((thread) => workload.talk(thread, () => talking));
    await eventually(async () => tools.posts.length > threadCount * 4);
    const copy = join(await scratchDirectory(), 'copy');
    const before = Date.now();
    const backup = await runCli(['backup', copy, '--json', ...connectionFlags(at)]);
    expect(backup).toMatchObject({ code: 0, stderr: '' });
    const { state, began_at: beganAt, left_out: leftOut } = JSON.parse(backup.stdout);
    expect({ state, leftOut }).toEqual({ state: 'done', leftOut: [] });
    expect(Date.parse(beganAt)).toBeGreaterThanOrEqual(before);
    const postedByOriginal = tools.posts.length;
    await sleep(200); // the original goes on
    expect(tools.posts.length).toBeGreaterThan(postedByOriginal);
    await original.stop('SIGKILL');
    const lost = { from: before, to: Date.now() };

    at = await start(copy, port);
    expect(at.key).toBe(original.key);
    await eventually(async () => tools.posts.some(({ receivedAt }) => receivedAt > lost.to));
    talking = false;
    await Promise.all(talks);
    await tools.sendAgain(); // as the runbook says: the copy has not heard what the original heard after the backup
    const history = await workload.history(tools, 60_000);
    expect(checkHistory(ofTheCopy(history, lost))).toEqual([]);
    for (const [call, keys] of tools.keys) expect({ call, keys: keys.size }).toEqual({ call, keys: 1 });
    const postsOf = Map.groupBy(tools.posts, ({ toolCallId }) => toolCallId);
    const twiceInCopy = [...postsOf.values()].filter(
      (posts) =>
        posts.some(({ receivedAt }) => receivedAt < lost.from) && posts.some((post) => post.receivedAt > lost.to),
    );
    expect(twiceInCopy.filter(([post]) => post?.operation === 'wipe')).toEqual([]);

    expect(await driven.send(invocation, { type: 'tool_result', text: 'done' })).toBe(200);
    await untilStatus(at, working, 'idle');
    expect(driven.others('/invoke')).toHaveLength(1);
    await eventually(async () => (await reminders(at, subscribed)).length > 0);
    await at.request('POST', '/v1/dev/clock', { advance_ms: 3 * dayMs });
    await untilStatus(at, sleeping, 'idle');
    expect(await reminders(at, subscribed)).toHaveLength(1);

    const verified = await runCli(['verify', '--all', '--json', ...connectionFlags(at)]);
    expect(verified.code).toBe(0);
    expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, broken: [], threads: threadCount + 3 });
    expect(await at.stop()).toBe(0);
    await driven.close();
  });
});

/** As people read it: the events of the subscription. */
async function reminders(at: Standalone, thread: string): Promise<readonly Json[]> {
  const { json } = await at.request('GET', `/v1/threads/${thread}/messages?limit=200`);
  return json.data.filter(({ role }: Json) => role === 'event');
}

describe('a directory for a backup', () => {
  let at: Standalone;
  beforeAll(async () => {
    at = await start(await scratchDirectory(), await freePort());
  });
  const backUp = (directory: string) => runCli(['backup', directory, ...connectionFlags(at)]);

  it('that is not empty is refused, and left as it is', async () => {
    const directory = await scratchDirectory();
    await writeFile(join(directory, 'mine'), 'mine');
    const refused = await backUp(directory);
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('is not empty') });
    expect(await readdir(directory)).toEqual(['mine']);
  });

  it('in the data directory, or without a parent, is refused with a sentence', async () => {
    expect(await backUp(join(at.dataDir, 'copy'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('inside the data directory'),
    });
    expect(await backUp(join(at.dataDir, '..', 'nowhere', 'copy'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not there'),
    });
  });

  it('that is empty becomes the backup; nothing is beside it, and only its owner reads it', async () => {
    const parent = await scratchDirectory();
    const directory = join(parent, 'copy');
    await mkdir(directory);
    await mkdir(join(at.dataDir, 'notes'));
    const done = await backUp(directory);
    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('is whole') });
    expect(done.stderr).toContain('left out: notes');
    expect(await readdir(parent)).toEqual(['copy']);
    expect((await readdir(directory)).toSorted()).toEqual(['dormouse.db', 'example-tools', 'key', 'master-key']);
    expect((await readdir(join(directory, 'example-tools'))).toSorted()).toEqual(['key', 'tool-server.db']);
    expect((await stat(directory)).mode & 0o077).toBe(0);
    for (const name of ['key', 'master-key']) {
      expect(await readFile(join(directory, name), 'utf8')).toBe(await readFile(join(at.dataDir, name), 'utf8'));
      expect((await stat(join(directory, name))).mode & 0o077).toBe(0);
    }
  });

  it('is chosen on the machine of the process only, by a key of scope tenant:admin', async () => {
    const body = { directory: join(await scratchDirectory(), 'copy') };
    const passedOn = await at.request('POST', '/v1/backup', body, { headers: { 'x-forwarded-for': '10.0.0.1' } });
    expect(passedOn.json).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    const { key } = (await at.request('POST', '/v1/api-keys', { name: 'reader', scopes: ['read'] })).json;
    expect((await at.request('POST', '/v1/backup', body, { key })).json).toMatchObject({ status: 403 });
  });
});
