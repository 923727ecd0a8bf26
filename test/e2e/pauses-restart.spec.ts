// What is paused stays paused over a restart, and loses nothing: killed in the middle, and stopped in order.
import { afterAll, expect, it } from 'vitest';
import { eventsOf, openThread, scriptedAgent, untilStatus } from './conversation.ts';
import { driveToolServer, toolCall } from './driven-tool-server.ts';
import { cleanUp, type Json, startStandalone } from './standalone-process.ts';

afterAll(cleanUp);

const inForce = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2_500));

it.each(['SIGKILL', 'SIGINT'] as const)('a tool server and an agent, after %s', async (signal) => {
  const before = await startStandalone();
  const tools = await driveToolServer(before);
  const calling = await scriptedAgent(before, [[toolCall('work', { what: 'x' })], [{ text: 'Done.' }]], {
    tool_servers: [tools.name],
  });
  const talking = await scriptedAgent(before, [[{ text: 'Hello.' }]], { tool_servers: [] });
  const [caller, talker] = [await openThread(before, calling), await openThread(before, talking)];
  for (const thread of [caller, talker]) await untilStatus(before, thread, 'idle');
  await before.request('POST', `/v1/tool-servers/${tools.name}/pause`);
  await before.request('PATCH', `/v1/agents/${talking}`, { state: 'paused' });
  await inForce();
  for (const thread of [caller, talker])
    expect((await before.request('POST', `/v1/threads/${thread}/messages`, { text: 'Go.' })).status).toBe(202);
  await untilStatus(before, caller, 'waiting');
  await untilStatus(before, talker, 'thinking');
  await before.stop(signal);

  const { dataDir, port } = before;
  const after = await startStandalone({ dataDir, port });
  await inForce();
  expect(tools.requests).toEqual([]);
  for (const thread of [caller, talker])
    expect((await after.request('GET', `/v1/threads/${thread}`)).json.waiting).toContain('is paused');
  await after.request('POST', `/v1/tool-servers/${tools.name}/resume`);
  await after.request('PATCH', `/v1/agents/${talking}`, { state: 'active' });
  const call = await tools.invocation(0);
  await tools.send(call, { type: 'tool_result', text: 'ok' });
  for (const thread of [caller, talker]) await untilStatus(after, thread, 'idle');
  await inForce();
  expect(tools.requests).toHaveLength(1);
  for (const [thread, completions] of [
    [caller, 2],
    [talker, 1],
  ] as const) {
    const recorded = (await eventsOf(after, thread)).filter(({ type }: Json) => type === 'completion_recorded');
    expect(recorded).toHaveLength(completions);
  }
  await after.stop();
  await tools.close();
});
