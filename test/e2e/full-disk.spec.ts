// A disk that is really full, under the running app: no answer claims a write that did not happen, nothing that was
// stored is lost, and a retry after there is room counts once. The disk is a small file system in memory.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type RecordingModel, startRecordingModel } from '../conformance/recording-model.ts';
import { recordToolServer, type RecordingToolServer } from '../conformance/recording-tool-server.ts';
import { eventsOf, eventually, openThread, untilStatus } from './conversation.ts';
import { toolCall } from './driven-tool-server.ts';
import { mountDisk, type SmallDisk } from './small-disk.ts';
import { cleanUp, scratchDirectory, type Standalone, startStandalone } from './standalone-process.ts';

const diskBytes = 32 * 1024 * 1024;
const noiseBytes = 50_000;
/** More than the log's file can hold when the noise did not fit. */
const large = 'y'.repeat(3 * noiseBytes);

describe('a full disk', () => {
  let disk: SmallDisk | null = null;
  let at: Standalone;
  let model: RecordingModel;
  let server: RecordingToolServer;
  const makeRoom = (): void => disk?.makeRoom();

  beforeAll(async () => {
    disk = mountDisk(join(await scratchDirectory(), 'disk'), diskBytes);
    if (disk === null) return;
    [at, model] = await Promise.all([startStandalone({ dataDir: join(disk.at, 'data') }), startRecordingModel()]);
    server = await recordToolServer(at);
  });
  beforeEach((context) => context.skip(disk === null, 'a disk of its own takes root on Linux'));
  afterEach(makeRoom);
  afterAll(async () => {
    if (disk !== null) {
      await at.stop();
      await Promise.all([model.close(), server.close()]);
      disk.unmount();
    }
    await cleanUp();
  });

  async function waitingThread(): Promise<{ readonly thread: string; readonly prompts: readonly unknown[] }> {
    const played = model.plays([[toolCall('work')], [{ text: 'understood' }], [{ text: 'yes' }]]);
    const name = `disk-${randomUUID()}`;
    await at.request('POST', '/v1/agents', { name, model: played.model, tool_servers: [server.name] });
    const thread = await openThread(at, name);
    await untilStatus(at, thread, 'idle');
    return { thread, prompts: played.prompts };
  }

  /** The log's file may have room of its own: it is used up by another thread, until that is refused. */
  async function fillDisk(): Promise<void> {
    const noise = await openThread(at);
    disk?.fill();
    const text = 'x'.repeat(noiseBytes);
    await eventually(async () => (await at.request('POST', `/v1/threads/${noise}/messages`, { text })).status === 503);
  }

  const post = (thread: string) =>
    at.request(
      'POST',
      `/v1/threads/${thread}/messages`,
      { text: `go ${large}` },
      { headers: { 'idempotency-key': thread } },
    );

  const countOf = async (thread: string, wanted: string): Promise<number> =>
    (await eventsOf(at, thread)).filter(({ type }) => type === wanted).length;

  it('R54 R57 a message is answered with 503, no model and no tool hears of it, and sent again it counts once', async () => {
    const { thread, prompts } = await waitingThread();
    const before = server.invocations().length;
    await fillDisk();
    const refused = await post(thread);
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true]);
    expect([prompts.length, server.invocations().length - before]).toEqual([0, 0]);
    expect((await at.request('GET', `/v1/threads/${thread}`)).status).toBe(200);
    makeRoom();
    await eventually(async () => (await post(thread)).status === 202);
    const call = await server.invocation(before);
    await server.send(call, { type: 'tool_result', text: 'done' });
    await untilStatus(at, thread, 'idle');
    expect(await countOf(thread, 'message_accepted')).toBe(1);
  });

  it('R57 a message that was refused is not decided later, when there is room again', async () => {
    const { thread, prompts } = await waitingThread();
    await fillDisk();
    const refused = await at.request('POST', `/v1/threads/${thread}/messages`, { text: large });
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true]);
    expect(refused.json.detail).toContain('disk');
    makeRoom();
    const later = await eventually(async () => {
      const answer = await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'found' });
      return answer.status === 202 && answer;
    });
    await untilStatus(at, thread, 'waiting');
    const accepted = (await eventsOf(at, thread)).filter(({ type }) => type === 'message_accepted');
    expect(accepted.map(({ message_id }) => message_id)).toEqual([later.json.id]);
    expect(prompts).toHaveLength(1);
  });

  it('R57 a result is answered with 503 and Retry-After, and sent again it counts once', async () => {
    const { thread, prompts } = await waitingThread();
    const before = server.invocations().length;
    expect((await post(thread)).status).toBe(202);
    const call = await server.invocation(before);
    await eventually(async () => (await countOf(thread, 'tool_call_requested')) === 1);
    await fillDisk();
    const result = { type: 'tool_result', text: `written down once ${large}` };
    const refused = await server.send(call, result);
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true]);
    expect(prompts).toHaveLength(1);
    makeRoom();
    await eventually(async () => (await server.send(call, result)).status === 200);
    await untilStatus(at, thread, 'idle');
    expect(await countOf(thread, 'tool_call_settled')).toBe(1);
    expect(prompts).toHaveLength(2);
  });

  it('a process that is killed while it is full starts again on it, and has everything that was answered', async () => {
    const { thread } = await waitingThread();
    const before = server.invocations().length;
    expect((await post(thread)).status).toBe(202);
    await server.invocation(before);
    await fillDisk();
    at.process.kill('SIGKILL');
    await eventually(async () => at.process.exitCode !== null || at.process.signalCode !== null);
    makeRoom();
    at = await startStandalone({ dataDir: at.dataDir, port: at.port });
    expect(await countOf(thread, 'message_accepted')).toBe(1);
    await server.send(await server.invocation(before), { type: 'tool_result', text: 'done' });
    await untilStatus(at, thread, 'idle');
  });

  it('ends when it is asked to while it is full, and goes on with what it could not store', async () => {
    const { thread } = await waitingThread();
    const before = server.invocations().length;
    expect((await post(thread)).status).toBe(202);
    const call = await server.invocation(before);
    await fillDisk();
    expect(await at.stop()).toBe(0);
    makeRoom();
    at = await startStandalone({ dataDir: at.dataDir, port: at.port });
    await server.send(call, { type: 'tool_result', text: 'done' });
    await untilStatus(at, thread, 'idle');
    expect(await countOf(thread, 'message_accepted')).toBe(1);
  });
});
