// `useThread` in a page of another origin, which has a token of its thread.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, eventually, openThread, scriptedAgent, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import { cleanUp, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { patienceMs } from '../patience.ts';
import { findBrowser } from './browser.ts';
import { type Elsewhere, programOf, startElsewhere } from './elsewhere.ts';

/** As far as these specs read it: they are compiled without a browser's types. */
interface Element {
  readonly textContent: string | null;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
}

const mark = (item: unknown, text: string): void => (item as Element).setAttribute('data-mark', text);

declare const window: { readonly page: { show(...ids: readonly string[]): void } };

const found = await findBrowser();
if (!found.available) console.info(found.reason);

const dangerous = [[toolCall('delete_everything', {})], [{ text: 'finished' }]];
const story = [[{ text: 'Once upon ' }, { wait_ms: 1_500 }, { text: 'a time' }]];

describe.skipIf(!found.available)('useThread', () => {
  let elsewhere: Elsewhere;
  let browser: Browser;
  let at: Standalone;
  beforeAll(async () => {
    if (!found.available) return;
    elsewhere = await startElsewhere();
    elsewhere.serve('/thread', await programOf(fileURLToPath(new URL('pages/thread-page.tsx', import.meta.url))));
    [browser, at] = await Promise.all([found.launch(), started()]);
  });
  afterEach(async () => {
    await Promise.all(browser?.contexts().map((context) => context.close()) ?? []);
  });
  afterAll(async () => {
    await browser?.close();
    await elsewhere?.close();
    await cleanUp();
  });

  const started = (): Promise<Standalone> => startStandalone({ env: { DORMOUSE_ALLOWED_ORIGINS: elsewhere.origin } });

  async function tokenOf(system: Standalone, thread: string): Promise<{ readonly token: string; readonly id: string }> {
    const grant = { can: ['read', 'message', 'answer'], scope: 'family', user_id: 'ann' };
    return (await system.request('POST', `/v1/threads/${thread}/tokens`, grant)).json;
  }

  interface Shown {
    readonly page: Page;
    readonly tokenId: string;
    /** What is written in a part of the only thread. */
    readonly part: (name: string) => Promise<string>;
    readonly is: (name: string, text: string) => Promise<void>;
    readonly say: (text: string) => Promise<void>;
    readonly messages: () => Promise<readonly string[]>;
    readonly close: () => Promise<void>;
  }

  async function shown(system: Standalone, threads: readonly string[]): Promise<Shown> {
    const context = await browser.newContext();
    const page = await context.newPage();
    page.setDefaultTimeout(patienceMs);
    const { token, id: tokenId } = await tokenOf(system, threads[0] ?? '');
    const query = new URLSearchParams({ api: system.url, token });
    for (const thread of threads) query.append('thread', thread);
    await page.goto(`${elsewhere.origin}/thread?${query.toString()}`);
    const part = async (name: string): Promise<string> =>
      (await page.locator(`[data-part=${name}]`).first().textContent()) ?? '';
    return {
      page,
      tokenId,
      part,
      is: (name, text) => expect.poll(() => part(name)).toBe(text),
      async say(text) {
        await page.getByLabel('Message').fill(text);
        await page.getByLabel('Message').press('Enter');
      },
      messages: async () =>
        page
          .locator('li')
          .evaluateAll((items) =>
            (items as unknown as readonly Element[]).map(
              (item) => `${item.getAttribute('data-role')} ${item.getAttribute('data-state')}: ${item.textContent}`,
            ),
          ),
      close: () => context.close(),
    };
  }

  const streams = async (system: Standalone): Promise<number> => {
    const { text } = await system.request('GET', '/metrics');
    return Number(/^dormouse_event_streams(?:\{\})? (\d+)/m.exec(text)?.[1]);
  };

  it('shows what is sent at once, what the model says as it comes, and each message once and in its place', async () => {
    const thread = await openThread(at, await scriptedAgent(at, [...story, ...story], { tool_servers: [] }));
    const { page, is, say, messages, close } = await shown(at, [thread]);
    await is('status', 'idle');
    const posting = Promise.withResolvers<void>();
    await page.route('**/messages', async (route) => {
      if (route.request().method() === 'POST') await posting.promise;
      await route.continue();
    });
    await say('a story');
    expect(await messages()).toEqual(['user sending: a story']);
    await page.locator('li').evaluate(mark, 'sent');
    posting.resolve();
    const streaming = page.locator('li[data-state=streaming]');
    await streaming.waitFor();
    expect(await streaming.textContent()).toBe('Once upon ');
    await streaming.evaluate(mark, 'streamed');
    await expect.poll(messages).toEqual(['user done: a story', 'assistant done: Once upon a time']);
    const marks = await page
      .locator('li')
      .evaluateAll((items) => (items as unknown as readonly Element[]).map((item) => item.getAttribute('data-mark')));
    expect(marks).toEqual(['sent', 'streamed']); // the same elements: their keys stayed
    await close();
    const again = await shown(at, [thread]);
    await expect.poll(again.messages).toEqual(['user done: a story', 'assistant done: Once upon a time']);
    await again.close();
  });

  it('asks for an approval, and answers it', async () => {
    const thread = await openThread(at, await scriptedAgent(at, dangerous));
    const { page, is, say, messages, close } = await shown(at, [thread]);
    await is('status', 'idle');
    await say('clean up');
    await is('status', 'waiting');
    expect(await page.locator('legend').textContent()).toContain('Allow delete_everything');
    await page.getByRole('button', { name: 'Allow' }).click();
    await expect.poll(async () => (await messages()).at(-1)).toBe('assistant done: finished');
    expect(await page.locator('fieldset').count()).toBe(0);
    const settled = (await at.request('GET', `/v1/choices?status=settled&thread=${thread}`)).json.data;
    expect(settled).toMatchObject([{ decision: 'allow', by: 'ann' }]);
    expect(await page.locator('li[data-role=tool]').getAttribute('data-operation')).toBe('delete_everything');
    await close();
  });

  it('interrupts', async () => {
    const long = [[{ text: 'I count. ' }, { wait_ms: 60_000 }, { text: 'never' }]];
    const thread = await openThread(at, await scriptedAgent(at, long, { tool_servers: [] }));
    const { page, is, say, close } = await shown(at, [thread]);
    await is('status', 'idle');
    await say('count');
    await page.locator('li[data-state=streaming]').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.locator('li[data-interrupted=true]').waitFor();
    await is('status', 'idle');
    await close();
  });

  it('has one connection in strict mode, also for two components, and none when the last is gone', async () => {
    const agent = await scriptedAgent(at, story, { tool_servers: [] });
    const [one, two] = [await openThread(at, agent), await openThread(at, agent)];
    await expect.poll(() => streams(at)).toBe(0);
    const { page, is, say, messages, close } = await shown(at, [one, one]);
    await is('status', 'idle');
    await is('connection', 'open');
    expect(await streams(at)).toBe(1);
    await page.evaluate((id) => window.page.show(id), one);
    await say('a story');
    await expect.poll(messages).toEqual(['user done: a story', 'assistant done: Once upon a time']);
    expect(await streams(at)).toBe(1);
    await page.evaluate((id) => window.page.show(id), two);
    // The token is of the first thread alone: nothing of it is shown for the second.
    await is('connection', 'failed');
    expect(await messages()).toEqual([]);
    await expect.poll(() => streams(at)).toBe(0);
    await page.evaluate((id) => window.page.show(id), one);
    await is('connection', 'open');
    await expect.poll(messages).toEqual(['user done: a story', 'assistant done: Once upon a time']);
    await page.evaluate(() => window.page.show());
    await expect.poll(() => streams(at)).toBe(0);
    await close();
  });

  it('suspends until the thread is here, and throws what keeps it away', async () => {
    const thread = await openThread(at, await scriptedAgent(at, story, { tool_servers: [] }));
    await untilStatus(at, thread, 'idle');
    const context = await browser.newContext();
    const suspended = await context.newPage();
    const held = Promise.withResolvers<void>();
    await suspended.route(`**/v1/threads/${thread}`, async (route) => {
      await held.promise;
      await route.continue();
    });
    const { token } = await tokenOf(at, thread);
    const query = new URLSearchParams({ api: at.url, token, thread, suspense: '1' });
    await suspended.goto(`${elsewhere.origin}/thread?${query.toString()}`);
    await suspended.locator('[data-part=fallback]').waitFor();
    expect(await suspended.locator('section').count()).toBe(0);
    held.resolve();
    await suspended.locator('section').waitFor();
    expect(await suspended.locator('[data-part=status]').textContent()).toBe('idle');
    await expect.poll(() => suspended.locator('[data-part=connection]').textContent()).toBe('open');
    expect(await streams(at)).toBe(1);
    await context.close();

    const refused = await (await browser.newContext()).newPage();
    query.set('token', 'dtt_nonsense');
    await refused.goto(`${elsewhere.origin}/thread?${query.toString()}`);
    await expect.poll(() => refused.locator('[data-part=failure]').textContent()).toContain('not known here');
    await refused.context().close();
  });

  it('says that its token was revoked', async () => {
    const thread = await openThread(at);
    const { tokenId, is, part, close } = await shown(at, [thread]);
    await is('connection', 'open');
    expect((await at.request('DELETE', `/v1/threads/${thread}/tokens/${tokenId}`)).status).toBe(204);
    await is('connection', 'failed');
    expect(await part('error')).toContain('not known here');
    await close();
  });

  it('goes on after the server was killed and started again: nothing is missing, nothing is there twice', async () => {
    const first = await started();
    const agent = await scriptedAgent(
      first,
      [[{ text: 'It is ' }, { wait_ms: 3_000 }, { text: 'cold.' }], [{ text: 'Still cold.' }]],
      { tool_servers: [] },
    );
    const thread = await openThread(first, agent);
    const { page, is, say, messages, close } = await shown(first, [thread]);
    await is('status', 'idle');
    await say('How is Oslo?');
    await page.locator('li[data-state=streaming]').waitFor();
    await first.stop('SIGKILL');
    await is('connection', 'reconnecting');
    await say('And now?');
    expect((await messages()).at(-1)).toBe('user sending: And now?');
    const second = await startStandalone({
      dataDir: first.dataDir,
      port: first.port,
      env: { DORMOUSE_ALLOWED_ORIGINS: elsewhere.origin },
    });
    await expect.poll(async () => (await messages()).at(-1)).toBe('assistant done: Still cold.');
    await is('connection', 'open');
    await eventually(async () => (await second.request('GET', `/v1/threads/${thread}`)).json.status === 'idle');
    const inLog = (await second.request('GET', `/v1/threads/${thread}/messages`)).json.data as readonly {
      readonly role: string;
      readonly text: string;
    }[];
    await expect.poll(messages).toEqual(inLog.map(({ role, text }) => `${role} done: ${text}`));
    expect(inLog.filter(({ role }) => role === 'user').map(({ text }) => text)).toEqual(['How is Oslo?', 'And now?']);
    expect((await eventsOf(second, thread)).length).toBeGreaterThan(0);
    await close();
    await second.stop();
  });

  it('is what the guide for web apps shows', async () => {
    const guide = await readFile(new URL('../../docs/guides/web-app.md', import.meta.url), 'utf8');
    const snippet = /<!-- example:hook -->\s*```jsx\n([^]*?)```/.exec(guide)?.[1] ?? '';
    const thread = await openThread(at, await scriptedAgent(at, dangerous));
    const { token } = await tokenOf(at, thread);
    const entry = fileURLToPath(new URL('pages/guide-page.jsx', import.meta.url));
    const constants = `const API = ${JSON.stringify(at.url)};\nconst TOKEN = ${JSON.stringify(token)};\n`;
    const start = `import { createRoot } from 'react-dom/client';\n`;
    const end = `createRoot(document.querySelector('main')).render(<Conversation threadId=${JSON.stringify(thread)} />);\n`;
    elsewhere.serve('/guide', await programOf(entry, { [entry]: start + constants + snippet + end }));
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${elsewhere.origin}/guide`);
    await page.getByLabel('Message').fill('clean up');
    await page.getByLabel('Message').press('Enter');
    await page.getByText('clean up').waitFor();
    await page.getByText('Allow delete_everything').waitFor();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('finished').waitFor();
    await page.context().close();
  });
});
