// A thread goes from one topology to the other and back, as a file.
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runCli } from '../cli/cli-process.ts';
import { eventsOf, openThread, say, type System } from '../e2e/conversation.ts';
import { type Json, scratchDirectory, startStandalone } from '../e2e/standalone-process.ts';
import { endSystems, startSystem } from '../e2e/system.ts';
import { withServices } from '../services/needed-services.ts';

const ok = async ({ url, key }: System, ...args: readonly string[]): Promise<string> => {
  const run = await runCli(['--url', url, '--key', key, '--json', ...args]);
  expect(run, run.stderr).toMatchObject({ code: 0 });
  return run.stdout;
};

async function move(from: System, thread: string, to: System): Promise<{ thread: string; position: number }> {
  const file = join(await scratchDirectory(), 'thread.ndjson');
  await ok(from, 'export', thread, file);
  const first = await ok(to, 'import', file);
  expect(await ok(to, 'import', file)).toBe(first);
  return JSON.parse(first) as { thread: string; position: number };
}

async function fork(at: System, thread: string, position: number): Promise<string> {
  const answer = await at.request('POST', `/v1/threads/${thread}/fork`, { position });
  expect(answer.status, answer.text).toBe(201);
  return answer.json.id;
}

const messagesOf = async (at: System, thread: string): Promise<readonly string[]> =>
  (await at.request('GET', `/v1/threads/${thread}/messages`)).json.data.map(
    ({ role, text }: Json) => `${role}: ${text}`,
  );

withServices(['kafka', 'mongo', 'redis'], () => {
  describe('a file of a thread', () => {
    afterAll(endSystems);

    it('goes to a cluster and back, and on in both', async () => {
      const [here, there]: [System, System] = await Promise.all([startStandalone(), startSystem()]);
      for (const at of [here, there]) {
        const model = { provider: 'scripted', parameters: { script: [[{ text: 'heard' }]] } };
        expect((await at.request('POST', '/v1/agents', { name: 'mover', model })).status).toBe(201);
      }
      const origin = await openThread(here, 'mover');
      const data = Buffer.alloc(90_000, 'pixels ').toString('base64');
      const content = [{ type: 'image', data, media_type: 'image/png' }];
      const headers = { prefer: 'wait=60' };
      await here.request('POST', `/v1/threads/${origin}/messages`, { content }, { headers });
      const begun = await fork(here, origin, (await eventsOf(here, origin)).length);
      await say(here, begun, 'in the fork');

      const moved = await move(here, begun, there);
      expect(await messagesOf(there, moved.thread)).toEqual(await messagesOf(here, begun));
      const onward = await fork(there, moved.thread, moved.position);
      await say(there, onward, 'in the cluster');
      const back = await move(there, onward, here);
      const expected = [...(await messagesOf(here, begun)), 'user: in the cluster', 'assistant: heard'];
      expect(await messagesOf(here, back.thread)).toEqual(expected);
      const again = await fork(here, back.thread, back.position);
      await say(here, again, 'home');
      expect(await messagesOf(here, again)).toEqual([...expected, 'user: home', 'assistant: heard']);
      expect(await ok(here, 'verify', back.thread)).toContain('"ok":true');
    });
  });
});
