// A conversation at a real terminal: what is typed, pasted, left open, and what comes from tools.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanUp, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { connectionFlags, hasTerminal, runCli, startInTerminal, type TerminalRun } from './cli-process.ts';

let at: Standalone;
beforeAll(async () => {
  at = await startStandalone();
});
afterAll(cleanUp);

const chatWith = async (...args: readonly string[]): Promise<TerminalRun> => {
  const chat = startInTerminal([...connectionFlags(at), 'chat', ...args]);
  await chat.shows('> ');
  return chat;
};

const threadOf = (chat: TerminalRun): string => /thr_\w+/.exec(chat.screen())?.[0] ?? '';

async function leave(chat: TerminalRun): Promise<void> {
  chat.type('/quit\r');
  expect(await chat.done).toBe(0);
}

const messagesOf = async (thread: string): Promise<readonly { readonly role: string; readonly text: string }[]> =>
  (await at.request('GET', `/v1/threads/${thread}/messages?limit=200`)).json.data;

describe.skipIf(!hasTerminal)('a chat', () => {
  it('takes a paste of several lines as one message, however it arrives', async () => {
    const chat = await chatWith('--agent', 'assistant');
    chat.type('See: \u001b[200~first line\rsecond line\nthird\u001b[');
    await chat.shows('See: first line␤second line␤third');
    chat.type('201~\r');
    await chat.shows('I am the demo model');
    await chat.shows('> ');
    const [said] = await messagesOf(threadOf(chat));
    expect(said).toMatchObject({ role: 'user', text: 'See: first line\nsecond line\nthird' });
    expect((await messagesOf(threadOf(chat))).filter(({ role }) => role === 'user')).toHaveLength(1);
    await leave(chat);
  });

  it('says that a command is unknown, and what there is; a space in front says it to the agent', async () => {
    const chat = await chatWith('--agent', 'assistant');
    chat.type('/nonsense now\r');
    await chat.shows('! there is no command /nonsense');
    await chat.shows('/refresh');
    chat.type(' /weather in Oslo?\r');
    await chat.shows('weather says: Oslo');
    const said = (await messagesOf(threadOf(chat))).filter(({ role }) => role === 'user');
    expect(said.map(({ text }) => text)).toEqual(['/weather in Oslo?']);
    await leave(chat);
  });

  it('says that there is nothing to do, in words', async () => {
    const chat = await chatWith('--agent', 'assistant');
    chat.type('/interrupt\r');
    await chat.shows('! nothing was running (interrupt: NOTHING_TO_STOP)');
    chat.type('/answer\r');
    await chat.shows('nothing waits for an answer');
    await leave(chat);
  });

  it('lists the tools of the thread, and fetches them anew', async () => {
    const chat = await chatWith('--agent', 'assistant');
    chat.type('roll a die\r');
    await chat.shows('roll_dice says');
    chat.type('/tools\r');
    await chat.shows(/example-tools: .*weather/);
    chat.type('/refresh\r');
    await chat.shows(/· tools: \d+ of example-tools/);
    await leave(chat);
  });

  it('asks again what was left open, and takes the answer as a command', async () => {
    const chat = await chatWith('--agent', 'assistant');
    chat.type('delete everything\r');
    await chat.shows('Allow delete_everything of example-tools?');
    await chat.shows('Deny');
    chat.type('\u001b');
    await chat.shows('· left open; /answer asks again.');
    await chat.shows(/answer thr_\w+ chc_\w+ allow --url \S+ --data /);
    await chat.shows('> ');
    chat.type('/answer\r');
    await chat.shows('Allow delete_everything of example-tools?');
    await chat.shows('Deny');
    chat.type('\u001b');
    await chat.shows('· left open');
    await chat.shows('> ');
    chat.type('/answer nonsense\r');
    await chat.shows('! an answer is allow, deny');
    chat.type('/answer deny\r');
    await chat.shows('so I left it alone');
    await leave(chat);
  });

  it('names the tool of a call and of an event also when it was asked for in an earlier conversation', async () => {
    const first = await chatWith('--agent', 'assistant');
    first.type('slow job of 4 s\r');
    await first.shows('· slow_job');
    first.type('/quit\r');
    expect(await first.done).toBe(0);
    const again = await chatWith(threadOf(first));
    await again.shows('· slow_job → ');
    await again.shows('> ');
    again.type('Remind me in 2 seconds: "water the plants"\r');
    await again.shows('remind_me says');
    await leave(again);
    const third = await chatWith(threadOf(first));
    await third.shows(/· remind_me: .*water the plants/);
    await leave(third);
    const events = await runCli([...connectionFlags(at), 'events', threadOf(first)]);
    expect(events.stdout).toMatch(/tool_call_settled +slow_job result:/);
    expect(events.stdout).toMatch(/subscription_event_received +remind_me: /);
    expect(events.stdout).not.toMatch(/(tool_call_settled|subscription_\w+) +call_/);
  });

  it('shows the views of tools as they change, and those that were there before', async () => {
    const chat = await chatWith('--agent', 'assistant');
    chat.type('Propose a change: "buy tea" "notes.md" "buy juice"\r');
    await chat.shows('view diff');
    await chat.shows('-- buy tea');
    await chat.shows('+- buy juice');
    await leave(chat);
    const again = startInTerminal([...connectionFlags(at), 'chat', threadOf(chat)]);
    await again.shows('view diff');
    await again.shows('+- buy juice');
    again.type('Propose a change: "buy juice" "notes.md" "buy tea"\r');
    await again.shows('the view diff is empty now');
    await leave(again);
  });
});
