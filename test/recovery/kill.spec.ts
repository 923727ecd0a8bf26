// `kill -9` at any moment under load, then a restart, again and again: nothing acknowledged is lost, nothing doubled,
// every thread goes on. The real program, real files, real HTTP; judged by the checkers that judge the simulator.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Commit } from '@dormouse/ports';
import { checkHistory, emptyHistory, type History, readHistory, type SentRequest } from '@dormouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanUp, freePort, scratchDirectory, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { type RecordingToolServer, serverName, startRecordingToolServer } from './recording-tool-server.ts';

const kills = 24;
const threadCount = 12;
const messagesPerThreadMax = 400;
const tenant = 'default';

let tools: RecordingToolServer;
let runtime: Standalone;
const requests: SentRequest[] = [];

beforeAll(async () => {
  tools = await startRecordingToolServer(40);
});
afterAll(async () => {
  await cleanUp();
  await tools.close();
});

/** Every turn calls two tools, one of them at most once, then says something. */
const script = Array.from({ length: messagesPerThreadMax * 2 }, (_, place) => {
  const call = (name: string): object => ({ tool_call: { name, arguments: { place } } });
  return place % 2 === 0 ? [call('work'), call('wipe')] : [{ wait_ms: 5 }, { text: `answer ${place}` }];
});

const policies = (onInterrupt: string): object => ({ on_interrupt: onInterrupt, approve: { mode: 'none' } });

async function start(dataDir: string, port: number): Promise<Standalone> {
  const env = {
    DORMOUSE_TOOL_RETRY_FIRST_MS: '50',
    DORMOUSE_UNKNOWN_OUTCOME_GRACE_MS: '500',
    DORMOUSE_TOOL_ACK_TIMEOUT_MS: '1000',
    DORMOUSE_LOG_LEVEL: 'warn',
  };
  return startStandalone({ dataDir, port, args: ['--no-example-tools'], env });
}

/** Sends until there is an answer; the key makes it one request however often it is sent. */
async function post(
  path: string,
  body: object,
  key: string,
): Promise<{ readonly status: number; readonly json: { readonly id: string } }> {
  for (;;) {
    try {
      const answer = await runtime.request('POST', path, body, { headers: { 'idempotency-key': key } });
      // 409: the first try is still running, or was when its process was killed
      if (answer.status < 500 && answer.status !== 409)
        return { status: answer.status, json: answer.json as { readonly id: string } };
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // a connection that was cut or refused
    }
    await sleep(20);
  }
}

/** The input's id as it stands in the log, from the message's: they carry the same characters. */
const inputIdOf = (publicId: string): string => `c:${publicId.slice(publicId.indexOf('_') + 1)}`;

async function talk(thread: string, talking: () => boolean): Promise<number> {
  for (let said = 0; said < messagesPerThreadMax; said++) {
    if (!talking()) return said;
    const sentAt = Date.now();
    const { status, json } = await post(
      `/v1/threads/${thread}/messages`,
      { text: `message ${said}` },
      `${thread}-${said}`,
    );
    expect(status).toBe(202);
    requests.push({
      key: { tenant, thread },
      kind: 'message',
      inputId: inputIdOf(json.id),
      messageId: json.id,
      sentAt,
      answeredAt: Date.now(),
    });
    await sleep(Math.random() * 60);
  }
  return messagesPerThreadMax;
}

async function commitsOf(thread: string): Promise<readonly Commit[]> {
  const commits: Commit[] = [];
  for (let cursor = ''; ;) {
    const { json } = await runtime.request('GET', `/v1/threads/${thread}/commits?limit=200${cursor}`);
    const page = json as { readonly data: readonly Commit[]; readonly next_cursor: string | null };
    commits.push(...page.data);
    if (page.next_cursor === null || page.data.length === 0) return commits;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

/** Why the runtime is not at rest yet; empty when it is. */
async function unrest(threads: readonly string[]): Promise<readonly string[]> {
  const why = tools.busy() > 0 ? [`${tools.busy()} callbacks are on their way`] : [];
  for (const thread of threads) {
    const { json } = await runtime.request('GET', `/v1/threads/${thread}`);
    const { status } = json as { readonly status: string };
    if (status !== 'idle') why.push(`${thread} is ${status}`);
  }
  return why;
}

describe('kill -9 under load', () => {
  it(`I-01 I-03 I-05 I-07 I-10 I-24 survives ${kills} kills: nothing lost, nothing doubled, every thread goes on`, async () => {
    const dataDir = await scratchDirectory();
    const port = await freePort();
    runtime = await start(dataDir, port);
    await post('/v1/tool-servers', { name: serverName, base_url: tools.url }, 'server');
    const threads: string[] = [];
    for (const onInterrupt of ['cancel', 'keep', 'queue']) {
      const model = { provider: 'scripted', parameters: { script } };
      await post(
        '/v1/agents',
        { name: onInterrupt, model, tool_servers: [serverName], policies: policies(onInterrupt) },
        `agent-${onInterrupt}`,
      );
    }
    for (let place = 0; place < threadCount; place++) {
      const agent = ['cancel', 'keep', 'queue'][place % 3];
      const { json } = await post('/v1/threads', { agent }, `thread-${place}`);
      threads.push(json.id);
    }
    let talking = true;
    const talks = threads.map((thread) => talk(thread, () => talking));
    for (let kill = 0; kill < kills; kill++) {
      await sleep(80 + Math.random() * 400);
      await runtime.stop('SIGKILL');
      runtime = await start(dataDir, port);
    }
    talking = false;
    const said = (await Promise.all(talks)).reduce((sum, count) => sum + count, 0);
    const deadline = Date.now() + 60_000;
    let why = await unrest(threads);
    while (why.length > 0 && Date.now() < deadline) {
      await sleep(100);
      why = await unrest(threads);
    }
    const history: History = {
      ...emptyHistory,
      threads: await Promise.all(
        threads.map(async (thread) => ({ key: { tenant, thread }, commits: await commitsOf(thread) })),
      ),
      requests,
      callbacks: tools.callbacks,
      posts: tools.posts,
      notices: tools.notices,
      unrest: why,
    };
    expect(checkHistory(history)).toEqual([]);
    report(said, history);
    expect(said).toBeGreaterThan(kills * 5);
    expect(await runtime.stop()).toBe(0);
  }, 180_000);
});

/** How often the rare paths were taken: a run in which one of them is zero proves nothing about it. */
function report(said: number, history: History): void {
  const again = tools.posts.length - new Set(tools.posts.map((post) => post.toolCallId)).size;
  const unanswered = tools.callbacks.filter(({ status }) => status === null).length;
  const commits = history.threads.reduce((sum, thread) => sum + thread.commits.length, 0);
  const outcomes = Map.groupBy(
    [...readHistory(history).calls.values()].flatMap(({ settled }) => settled),
    (event) => event.outcome,
  );
  const counted = [...outcomes].map(([outcome, events]) => `${outcome} ${events.length}`).join(', ');
  const digest = createHash('sha256')
    .update(JSON.stringify(history.threads.map((thread) => thread.commits.at(-1)?.hash)))
    .digest('hex')
    .slice(0, 12);
  process.stderr.write(
    `${kills} kills: ${said} messages, ${commits} commits, ${tools.posts.length} POSTs (${again} repeated), ${unanswered} callbacks cut off, calls: ${counted}; heads ${digest}\n`,
  );
}
