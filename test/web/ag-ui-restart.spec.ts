// A run of AG-UI whose server is killed in the middle of it, and what the unmodified client reads afterwards.
import { HttpAgent, verifyEvents } from '@ag-ui/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually, scriptedAgent } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import { cleanUp, type Json, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { freshChatId } from './chat-client.ts';

/**
 * The client cancels the body of a connection that broke, and lets the rejection of that go: of a page that is a line
 * in its console, of a spec an error.
 */
const listeners = process.listeners('unhandledRejection');
beforeAll(() => {
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', (error, promise) => {
    if (error instanceof TypeError && error.message === 'terminated') return;
    for (const listener of listeners) listener(error, promise);
  });
});
afterAll(() => {
  process.removeAllListeners('unhandledRejection');
  for (const listener of listeners) process.on('unhandledRejection', listener);
});
afterEach(cleanUp);

let runs = 0;

interface Run {
  readonly events: Json[];
  /** Null, or why it ended before its time. */
  readonly ended: Promise<unknown>;
}

/** One run, as the client reads it and its state machine lets it pass. */
function run(at: Standalone, agent: string, threadId: string, more: object): Run {
  const input = { threadId, runId: `run-${++runs}`, messages: [], tools: [], context: [], state: {}, ...more };
  const client = new HttpAgent({
    url: `${at.url}/v1/ui/ag-ui/${agent}`,
    headers: { authorization: `Bearer ${at.key}` },
  });
  const events: Json[] = [];
  const reading = verifyEvents()(client.run(input)).forEach((event) => void events.push(event));
  return {
    events,
    ended: reading.then(
      () => null,
      (error: unknown) => error,
    ),
  };
}

const said = (content: string) => ({ messages: [{ id: 'm1', role: 'user', content }] });

const restarted = async (at: Standalone): Promise<Standalone> => {
  await at.stop('SIGKILL');
  return startStandalone({ dataDir: at.dataDir, port: at.port });
};

const textIn = (events: readonly Json[]): string =>
  events.flatMap(({ type, delta }) => (type === 'TEXT_MESSAGE_CONTENT' ? [delta] : [])).join('');

const userMessages = async (at: Standalone, chat: string): Promise<readonly Json[]> => {
  const [thread] = (await at.request('GET', `/v1/threads?external_id=${chat}`)).json.data;
  const { data } = (await at.request('GET', `/v1/threads/${thread.id}/messages`)).json;
  return data.filter(({ role }: Json) => role === 'user');
};

describe('a run whose server is killed', () => {
  it('is asked for again by its message: the answer comes whole and once, and the message was said once', async () => {
    const first = await startStandalone();
    const agent = await scriptedAgent(first, [
      [{ text: 'I look. ' }, toolCall('weather', { city: 'Oslo' })],
      [{ text: 'It is ' }, { wait_ms: 3_000 }, { text: 'cold.' }],
      [{ text: 'You are welcome.' }],
    ]);
    const chat = freshChatId();
    const cut = run(first, agent, chat, said('How is Oslo?'));
    await eventually(async () => textIn(cut.events).endsWith('It is '));
    const second = await restarted(first);
    expect(await cut.ended).not.toBeNull();
    expect(cut.events.at(-1)?.type).not.toBe('RUN_FINISHED');

    const again = run(second, agent, chat, said('How is Oslo?'));
    expect(await again.ended).toBeNull();
    expect(again.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED' });
    expect(textIn(again.events)).toBe('I look. It is cold.');
    const results = again.events.filter(({ type }) => type === 'TOOL_CALL_RESULT');
    expect(results).toMatchObject([{ content: expect.stringContaining('Oslo, Norway') }]);
    expect(await userMessages(second, chat)).toMatchObject([{ text: 'How is Oslo?' }]);

    const next = run(second, agent, chat, { messages: [{ id: 'm2', role: 'user', content: 'Thanks.' }] });
    expect(await next.ended).toBeNull();
    expect(textIn(next.events)).toBe('You are welcome.');
  });

  it('keeps the interrupt that it has ended with, and the next run resumes it', async () => {
    const first = await startStandalone();
    const agent = await scriptedAgent(first, [[toolCall('delete_everything', {})], [{ text: 'finished' }]]);
    const chat = freshChatId();
    const asking = run(first, agent, chat, said('clean up'));
    expect(await asking.ended).toBeNull();
    const [interrupt] = asking.events.at(-1)?.outcome?.interrupts ?? [];
    const second = await restarted(first);
    const resume = [{ interruptId: interrupt.id, status: 'resolved', payload: { approved: true } }];
    const resumed = run(second, agent, chat, { resume });
    expect(await resumed.ended).toBeNull();
    expect(textIn(resumed.events)).toBe('finished');
    expect(resumed.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED' });
  });
});
