// `useChat` of the AI SDK, unmodified, in a page of another origin with a token of its thread.
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, scriptedAgent, type Step, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import { cleanUp, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { patienceMs } from '../patience.ts';
import { findBrowser } from './browser.ts';
import { type Elsewhere, programOf, startElsewhere } from './elsewhere.ts';

const found = await findBrowser();
if (!found.available) console.info(found.reason);

let chats = 0;

/** As far as these specs read it: they are compiled without a browser's types. */
interface Element {
  readonly id: string;
  readonly textContent: string | null;
  readonly children: Iterable<Element>;
  getAttribute(name: string): string | null;
}

interface Chat {
  readonly thread: string;
  readonly url: string;
  readonly page: Page;
  readonly say: (text: string) => Promise<void>;
  /** What is shown of each message: texts, and tools with their states. */
  readonly shown: () => Promise<readonly string[]>;
  readonly isReady: () => Promise<void>;
}

describe.skipIf(!found.available)('useChat in a browser', () => {
  let elsewhere: Elsewhere;
  let browser: Browser;
  let at: Standalone;
  beforeAll(async () => {
    if (!found.available) return;
    elsewhere = await startElsewhere();
    elsewhere.serve('/chat', await programOf(fileURLToPath(new URL('pages/chat-page.tsx', import.meta.url))));
    const env = { DORMOUSE_ALLOWED_ORIGINS: elsewhere.origin };
    [browser, at] = await Promise.all([found.launch(), startStandalone({ env })]);
  });
  afterEach(async () => {
    await Promise.all(browser?.contexts().map((context) => context.close()) ?? []);
  });
  afterAll(async () => {
    await browser?.close();
    await elsewhere?.close();
    await cleanUp();
  });

  async function chatWith(script: readonly (readonly Step[])[]): Promise<Chat> {
    const agent = await scriptedAgent(at, script);
    const chat = `chat-${(chats += 1)}`;
    const opened = await at.request('POST', '/v1/threads', { agent, external_id: chat });
    const thread: string = opened.json.id;
    await untilStatus(at, thread, 'idle');
    const grant = { can: ['read', 'message', 'answer'], scope: 'family' };
    const { token } = (await at.request('POST', `/v1/threads/${thread}/tokens`, grant)).json;
    const query = new URLSearchParams({ api: at.url, agent, chat, token });
    const url = `${elsewhere.origin}/chat?${query.toString()}`;
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(patienceMs);
    const resumed = page.waitForResponse((response) => response.url().endsWith('/stream'));
    await page.goto(url);
    await resumed; // useChat has seen that nothing is running
    return {
      ...{ thread, url, page },
      async say(text) {
        await page.getByLabel('Message').fill(text);
        await page.getByLabel('Message').press('Enter');
      },
      shown: () =>
        page.locator('article').evaluateAll((articles) =>
          (articles as unknown as readonly Element[]).map((article) => {
            const parts = [...article.children].map((part) =>
              part.getAttribute('data-part') === 'tool'
                ? `[${part.getAttribute('data-tool')} ${part.getAttribute('data-state')}]`
                : part.textContent,
            );
            return `${article.getAttribute('data-role')}: ${parts.join('|')}`;
          }),
        ),
      isReady: () => expect.poll(() => page.locator('#status').textContent()).toBe('ready'),
    };
  }

  it('shows reasoning, a tool that ends at once and text, and the same after a reload', async () => {
    const { page, say, shown, isReady } = await chatWith([
      [{ reasoning: 'let me see' }, toolCall('weather', { city: 'Oslo' })],
      [{ text: 'It is cold.' }],
    ]);
    await say('How is Oslo?');
    const whole = ['user: How is Oslo?', 'assistant: let me see|[weather output-available]|It is cold.'];
    await expect.poll(shown).toEqual(whole);
    await isReady();
    const ids = async (): Promise<readonly string[]> =>
      page
        .locator('article')
        .evaluateAll((articles) => (articles as unknown as readonly Element[]).map(({ id }) => id));
    const before = await ids();
    await page.reload();
    await expect.poll(shown).toEqual(whole);
    expect((await ids()).at(-1)).toBe(before.at(-1));
  });

  it.each([
    ['Allow', 'output-available'],
    ['Deny', 'output-denied'],
  ])('asks for an approval: %s goes on in the same message', async (button, state) => {
    const { page, say, shown, isReady } = await chatWith([[toolCall('delete_everything', {})], [{ text: 'finished' }]]);
    await say('clean up');
    await page.getByRole('button', { name: button, exact: true }).click();
    await expect.poll(shown).toEqual(['user: clean up', `assistant: [delete_everything ${state}]|finished`]);
    await isReady();
    expect(await page.locator('#error').textContent()).toBe('none');
  });

  it('goes on with a running message after a reload, under its id', async () => {
    const { page, say, shown, isReady } = await chatWith([
      [{ text: 'Once upon ' }, { wait_ms: 3_000 }, { text: 'a time' }],
    ]);
    await say('a story');
    const answer = page.locator('article[data-role=assistant]');
    await answer.getByText('Once upon').waitFor();
    const id = await answer.getAttribute('id');
    await page.reload();
    await expect.poll(shown).toEqual(['user: a story', 'assistant: Once upon a time']);
    expect(await answer.getAttribute('id')).toBe(id);
    await isReady();
  });

  it('stops what is running', async () => {
    const { thread, page, say, isReady } = await chatWith([
      [{ text: 'I count. ' }, { wait_ms: 60_000 }, { text: 'never' }],
    ]);
    await say('count');
    await page.getByText('I count.').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await untilStatus(at, thread, 'idle');
    await isReady();
    expect(await eventsOf(at, thread)).toContainEqual(
      expect.objectContaining({ type: 'completion_recorded', interrupted: true }),
    );
  });
});
