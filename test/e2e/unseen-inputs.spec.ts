// A thread whose model does not see what comes: its events are refused above a thousand, until the model has seen them.
// Other threads of the tenant are not touched, and what was acknowledged is in the history once.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventsOf, eventually, openThread, scriptedAgent, type System } from './conversation.ts';
import { driveToolServer, type DrivenToolServer, toolCall } from './driven-tool-server.ts';
import type { Json } from './standalone-process.ts';
import { endSystems, startSystem } from './system.ts';

const unseenMax = 1_000;
const atOnce = 20;
/** What the owner of the thread says is known to a gateway in another process seconds later. */
const sentMax = 20 * unseenMax;

let at: System;
beforeAll(async () => {
  at = await startSystem({ DORMOUSE_TENANT_REQUESTS_PER_S: '0', DORMOUSE_TENANT_CALLBACKS_PER_S: '0' });
});
afterAll(endSystems);

interface Watching {
  readonly thread: string;
  /** Sends an event of this name. */
  readonly event: (name: string) => Promise<{ readonly status: number; readonly retryAfter: number }>;
}

/** A thread with a subscription, whose next completion takes for ever; interrupted, it answers. */
async function watching(tools: DrivenToolServer, nth: number): Promise<Watching> {
  const script = [[toolCall('watch')], [{ wait_ms: 600_000 }, { text: 'Late.' }], [{ text: 'Seen.' }]];
  const thread = await openThread(at, await scriptedAgent(at, script, { tool_servers: [tools.name] }));
  await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'Watch.' });
  const call = await tools.invocation(nth);
  expect(await tools.send(call, { type: 'tool_result', text: 'sub_1', subscription: true })).toBe(200);
  const about = { type: 'subscription_event', group_id: call.group_id, tool_call_id: call.id, associative: true };
  return {
    thread,
    async event(name) {
      const response = await fetch(call.callback_url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...about, event_id: name, text: name }),
      });
      await response.arrayBuffer();
      return { status: response.status, retryAfter: Number(response.headers.get('retry-after')) };
    },
  };
}

it('above a thousand unseen inputs its events come later, those of another thread do not, and none is lost', async () => {
  const tools = await driveToolServer(at);
  const [full, other] = [await watching(tools, 0), await watching(tools, 1)];
  const taken: string[] = [];
  const refused: number[] = [];
  let sent = 0;
  async function send(): Promise<void> {
    while (refused.length === 0 && sent < sentMax) {
      const name = `no-${(sent += 1)}`;
      const { status, retryAfter } = await full.event(name);
      expect([200, 503]).toContain(status);
      if (status === 200) taken.push(name);
      else refused.push(retryAfter);
    }
  }
  await Promise.all(Array.from({ length: atOnce }, send));
  expect(taken.length).toBeGreaterThanOrEqual(unseenMax);
  for (const retryAfter of refused) expect(retryAfter).toBeGreaterThanOrEqual(1);
  expect((await full.event('not-taken')).status).toBe(503);
  expect((await other.event('first')).status).toBe(200);
  expect((await at.request('POST', `/v1/threads/${full.thread}/interrupt`)).status).toBe(202);
  await eventually(async () => {
    const { status } = await full.event('afterwards');
    return status === 200;
  });
  const log = await eventually(async () => {
    const names = (await eventsOf(at, full.thread)).flatMap(({ type, event_id: name }: Json) =>
      type === 'subscription_event_received' ? [name as string] : [],
    );
    return names.length > taken.length && names;
  });
  expect(log.toSorted()).toEqual([...taken, 'afterwards'].toSorted());
  await tools.close();
});
