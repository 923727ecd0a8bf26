// `kill -9` at any moment under load, then a restart, again and again: nothing acknowledged is lost, nothing doubled,
// every thread continues. The real program, real files, real HTTP; judged by the checkers that judge the simulator.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkHistory, type History, readHistory } from '@dormouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanUp, scratchDirectory, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { freePort } from '../services/free-ports.ts';
import { type RecordingToolServer, startRecordingToolServer } from './recording-tool-server.ts';
import { createWorkload } from './workload.ts';

const kills = 24;
const threadCount = 12;

let tools: RecordingToolServer;
let runtime: Standalone;

beforeAll(async () => {
  tools = await startRecordingToolServer(40);
});
afterAll(async () => {
  await cleanUp();
  await tools.close();
});

async function start(dataDir: string, port: number): Promise<Standalone> {
  const env = {
    DORMOUSE_TOOL_RETRY_FIRST_MS: '50',
    DORMOUSE_UNKNOWN_OUTCOME_GRACE_MS: '500',
    DORMOUSE_TOOL_ACK_TIMEOUT_MS: '1000',
    DORMOUSE_LOG_LEVEL: 'warn',
  };
  return startStandalone({ dataDir, port, args: ['--no-example-tools'], env });
}

describe('kill -9 under load', () => {
  it(`I-01 I-03 I-05 I-07 I-10 I-24 survives ${kills} kills: nothing lost, nothing doubled, every thread goes on`, async () => {
    const dataDir = await scratchDirectory();
    const port = await freePort();
    runtime = await start(dataDir, port);
    const workload = createWorkload((...request) => runtime.request(...request));
    const threads = await workload.prepare(tools.url, threadCount);
    let talking = true;
    const talks = threads.map((thread) => workload.talk(thread, () => talking));
    for (let kill = 0; kill < kills; kill++) {
      await sleep(80 + Math.random() * 400);
      await runtime.stop('SIGKILL');
      runtime = await start(dataDir, port);
    }
    talking = false;
    const said = (await Promise.all(talks)).reduce((sum, count) => sum + count, 0);
    const history = await workload.history(tools, 60_000);
    expect(checkHistory(history)).toEqual([]);
    report(said, history);
    expect(said).toBeGreaterThan(kills * 5);
    expect(await runtime.stop()).toBe(0);
  });
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
