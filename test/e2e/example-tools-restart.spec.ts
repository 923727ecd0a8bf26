// The simplest test of durability: stop the one process while something is due or open, and start it again.
import { createServer } from 'node:http';
import { afterAll, afterEach, expect, it } from 'vitest';
import { eventsOf, openThread, say, untilEvent, untilStatus } from './conversation.ts';
import { cleanUp, type Standalone, startStandalone } from './standalone-process.ts';

let at: Standalone;
afterEach(() => at.stop('SIGKILL'));
afterAll(cleanUp);

it.each(['SIGINT', 'SIGKILL'] as const)(
  'a reminder comes, and a question of a tool can be answered, after %s and another start',
  async (signal) => {
    at = await startStandalone();
    const thread = await openThread(at, 'assistant');
    await say(at, thread, 'Remind me in 4 seconds: "water the plants"');
    await say(at, thread, 'Deploy the service "api" to production.');
    const { choice_id: choice } = await untilEvent(at, thread, 'choice_requested');
    await at.stop(signal);
    at = await startStandalone({ dataDir: at.dataDir, port: at.port });
    const answer = await at.request('POST', `/v1/threads/${thread}/choices/${choice}`, { selected: 0 });
    expect(answer.status).toBe(202);
    expect(await untilEvent(at, thread, 'subscription_event_received')).toMatchObject({
      content: [{ text: expect.stringContaining('water the plants') }],
    });
    await untilStatus(at, thread, 'idle');
    const texts = JSON.stringify((await eventsOf(at, thread)).filter(({ type }) => type === 'tool_call_settled'));
    expect(texts).toContain('api is deployed to production');
  },
);

it('threads of before reach the tools although another program has taken their port', async () => {
  at = await startStandalone();
  const thread = await openThread(at, 'assistant');
  await say(at, thread, 'What is the weather in Lisbon?');
  await at.stop();
  const requests: string[] = [];
  const other = createServer((request, response) => {
    requests.push(request.url ?? '');
    response.writeHead(503).end();
  });
  await new Promise<void>((resolve) => other.listen(at.port + 1, '127.0.0.1', resolve));
  try {
    at = await startStandalone({ dataDir: at.dataDir, port: at.port });
    expect(await say(at, thread, 'What is the weather in Oslo?')).toMatchObject({ status: 'idle' });
    expect(requests).toEqual([]);
  } finally {
    other.close();
  }
});
