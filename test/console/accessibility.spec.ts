// Every screen under WCAG 2.2 AA in both themes, at the width of a small telephone, and by keyboard alone.
import AxeBuilder from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { startStandalone } from '../e2e/standalone-process.ts';
import { consoleSpecs, type PageOptions, type Watched } from './browser.ts';
import { scripted, statusOf, talked } from './conversations.ts';

/** What runs in the page. */
declare const document: {
  readonly documentElement: { readonly scrollWidth: number };
  readonly activeElement: { readonly textContent: string | null } | null;
  querySelector(selector: string): { readonly scrollWidth: number } | null;
};

let thread = '';
let changed = '';
const system = consoleSpecs(startStandalone, async ({ runtime }) => {
  thread = await talked(runtime, 'What is the weather in Oslo?', 'Draw a blue square.', 'Delete everything.');
  changed = await scripted(runtime, 'changer', [
    [
      {
        tool_call: { name: 'propose_change', arguments: { path: 'notes.md', find: 'buy tea', replace: 'buy coffee' } },
      },
    ],
    [{ reasoning: 'It is done.' }, { text: '# Done\n\n* the **notes** have [changed](https://example.com)' }],
  ]);
  await runtime.request('POST', '/v1/agents', {
    name: 'changer',
    instructions: 'Other words.',
    model: { provider: 'demo' },
  });
  await runtime.request('PUT', '/v1/secrets/llm_key', {
    value: 'a secret',
    origins: ['https://api.example.com'],
  });
});

interface Screen {
  readonly path: string;
  /** What shows that the screen is there. */
  readonly sign: string;
  readonly arrange?: (page: Page) => Promise<void>;
}

const screens: Readonly<Record<string, () => Screen>> = {
  threads: () => ({ path: '/threads', sign: '.thread-row' }),
  'new thread': () => ({ path: '/threads?new=true', sign: '[role=dialog] textarea' }),
  'no threads': () => ({ path: '/threads?status=parked', sign: '.empty' }),
  'thread, a question': () => ({ path: `/threads/${thread}`, sign: '.question .json' }),
  'thread, an event': () => ({ path: `/threads/${thread}?p=7`, sign: '.event-details .json' }),
  'thread, the past': () => ({ path: `/threads/${thread}?at=8`, sign: '.position[data-past]' }),
  'thread, turns': () => ({ path: `/threads/${thread}?tab=turns`, sign: '.step' }),
  'thread, calls': () => ({ path: `/threads/${thread}?tab=calls`, sign: '.call-summary' }),
  'thread, a diff and a view': () => ({ path: `/threads/${changed}?tab=views`, sign: '.view .diff-line' }),
  'thread, children': () => ({ path: `/threads/${thread}?tab=children`, sign: '.tab-panel .empty' }),
  'thread, about': () => ({ path: `/threads/${thread}?tab=about`, sign: '.facts' }),
  inbox: () => ({ path: '/inbox', sign: '.screen-head' }),
  agents: () => ({ path: '/agents', sign: '.tile' }),
  agent: () => ({ path: '/agents/assistant', sign: '.card .json' }),
  'agent, versions compared': () => ({ path: '/agents/changer?version=2&against=1', sign: '.diff-line' }),
  'tool servers': () => ({ path: '/tools', sign: '.tile' }),
  'tool server': () => ({ path: '/tools/example-tools?tool=weather', sign: 'form .field' }),
  waiting: () => ({ path: '/waiting', sign: '.table' }),
  parked: () => ({ path: '/parked', sign: '.empty' }),
  usage: () => ({ path: '/usage', sign: '.screen-head' }),
  settings: () => ({ path: '/settings', sign: '.card .row' }),
  'command palette': () => ({
    path: '/threads',
    sign: '.thread-row',
    arrange: (page) =>
      page.keyboard.press('Control+k').then(() => page.locator('.palette .menu-item').first().waitFor()),
  }),
};

/** Signed in once: the screens are visited in turn. */
function visiting(options: PageOptions): () => Promise<Watched> {
  let watched: Promise<Watched> | undefined;
  return () => (watched ??= system.open('/threads', options));
}

async function visit(watched: Watched, screen: () => Screen): Promise<Watched> {
  const { page } = watched;
  const { path, sign, arrange } = screen();
  await page.goto(system.runtime.url + path);
  await page.locator(sign).first().waitFor();
  await arrange?.(page);
  return watched;
}

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

describe('under WCAG 2.2 AA', () => {
  const watched = visiting({});

  it.each(Object.entries(screens))('%s has no violation, light and dark', async (_name, screen) => {
    const { page, expectClean } = await visit(await watched(), screen);
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme });
      const { violations } = await new AxeBuilder({ page }).withTags(tags).analyze();
      const told = violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => `${theme}, ${id}: ${html.slice(0, 160)} ${failureSummary ?? ''}`),
      );
      expect(told).toEqual([]);
    }
    expectClean();
  });
});

describe('at 320 pixels', () => {
  const watched = visiting({ width: 320, height: 640 });

  it.each(Object.entries(screens))('%s needs no sideways scrolling', async (_name, screen) => {
    const { page } = await visit(await watched(), screen);
    const { width, screenWidth } = await page.evaluate(() => ({
      width: document.documentElement.scrollWidth,
      screenWidth: document.querySelector('.screen')?.scrollWidth ?? 0,
    }));
    expect([width, screenWidth].map((each) => each <= 320)).toEqual([true, true]);
  });
});

describe('by keyboard alone', () => {
  it('a thread is opened, a question is answered, and the thread is closed', async () => {
    const { page, expectClean } = await system.open('/threads');
    const { keyboard } = page;
    await page.locator('.thread-row').first().waitFor();
    await keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the content');
    await keyboard.press('Control+k');
    await page.getByPlaceholder('Go to, or do').waitFor();
    await keyboard.type('new thread');
    await keyboard.press('ArrowDown');
    await keyboard.press('Enter');
    await page.getByLabel('First message').waitFor();
    await keyboard.type('Delete everything.');
    await keyboard.press('Control+Enter');
    await page.getByText('Allow delete_everything').first().waitFor();
    const opened = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await tabTo(page, 'Deny');
    await keyboard.press('Enter');
    await page.locator('.call[data-outcome=denied]').waitFor();
    await expect.poll(() => statusOf(system.runtime, opened)).toBe('idle');
    await keyboard.press('Control+k');
    await page.getByPlaceholder('Go to, or do').waitFor();
    await keyboard.type('close thread');
    await keyboard.press('ArrowDown');
    await keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await tabTo(page, 'Close thread');
    await keyboard.press('Enter');
    await page.getByText('This thread is closed.').waitFor();
    await keyboard.press('Control+k');
    await page.getByPlaceholder('Go to, or do').waitFor();
    await keyboard.press('Escape');
    await page.getByPlaceholder('Go to, or do').waitFor({ state: 'detached' });
    expectClean();
  });
});

const tabsMax = 80;

/** Presses the tabulator until an element of this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < tabsMax; presses += 1) {
    await page.keyboard.press('Tab');
    if ((await page.evaluate(() => document.activeElement?.textContent?.trim())) === name) return;
  }
  throw new Error(`the tabulator does not reach ${name}`);
}
