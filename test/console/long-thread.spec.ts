// A thread of 100 000 events in the console: it opens at once, scrolls at the cost of what is in view, and any event
// is one step away.
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { startStandalone } from '../e2e/standalone-process.ts';
import { consoleSpecs } from './browser.ts';
import { importLongThread } from './long-thread.ts';

/** What runs in the page. */
interface PageNode {
  readonly nodeType: number;
  readonly scrollTop: number;
  scrollBy(x: number, y: number): void;
  querySelectorAll(selector: string): { readonly length: number };
}
declare const document: { querySelector(selector: string): PageNode | null };
declare function requestAnimationFrame(callback: (at: number) => void): void;
declare class MutationObserver {
  constructor(saw: (records: readonly { readonly addedNodes: Iterable<PageNode> }[]) => void);
  observe(node: PageNode, what: { readonly childList: boolean; readonly subtree: boolean }): void;
  disconnect(): void;
}

const events = 100_000;
const framesMax = 240;
let thread = '';
let length = 0;
const system = consoleSpecs(startStandalone, async ({ runtime }) => {
  ({ thread, length } = await importLongThread(runtime, events));
});

interface Scrolled {
  /** Pixels that the element has moved. */
  readonly moved: number;
  /** Elements in it, in the frame that had the most. */
  readonly elementsMax: number;
  /** Elements that were made, in all frames. */
  readonly made: number;
  /** Requests to the API. */
  readonly requests: number;
}

/** What scrolling up by so many pixels per frame costs; in counts, which do not depend on the machine. */
async function scrolled(page: Page, selector: string, pixels: number): Promise<Scrolled> {
  let requests = 0;
  page.on('request', (request) => void (requests += new URL(request.url()).pathname.startsWith('/v1/') ? 1 : 0));
  const counted = await page.evaluate(
    async ({ selector: wanted, pixels: step, frames }) => {
      const element = document.querySelector(wanted);
      if (element === null) throw new Error(`there is no ${wanted}`);
      let made = 0;
      const count = (node: PageNode): number => (node.nodeType === 1 ? 1 + node.querySelectorAll('*').length : 0);
      const observer = new MutationObserver((records) => {
        for (const { addedNodes } of records) for (const node of addedNodes) made += count(node);
      });
      observer.observe(element, { childList: true, subtree: true });
      let [elementsMax, moved] = [0, 0];
      for (let frame = 0; frame < frames; frame += 1) {
        const before = element.scrollTop;
        element.scrollBy(0, -step);
        moved += Math.max(0, before - element.scrollTop);
        await new Promise((resolve) => requestAnimationFrame(resolve));
        elementsMax = Math.max(elementsMax, element.querySelectorAll('*').length);
      }
      observer.disconnect();
      return { moved, elementsMax, made };
    },
    { selector, pixels, frames: framesMax },
  );
  return { ...counted, requests };
}

describe('a thread of 100 000 events', () => {
  it('shows its end, and then any event by its address', async () => {
    expect(length).toBeGreaterThanOrEqual(events);
    const { page, expectClean } = await system.open(`/threads/${thread}`);
    await page.getByRole('button', { name: `Event ${length}` }).waitFor();
    expect(await page.locator('.event').count()).toBeLessThan(100);
    await page.goto(`${system.runtime.url}/threads/${thread}?p=50000`);
    await page.getByRole('option', { selected: true }).getByText('50000').waitFor();
    await page.getByRole('region', { name: 'Event 50000 as JSON' }).waitFor();
    expectClean();
  });

  it.each([
    ['timeline', '.timeline-rows'],
    ['conversation', '.conversation'],
  ])('scrolls its %s at a cost that does not grow with its length', async (_name, selector) => {
    const { page, expectClean } = await system.open(`/threads/${thread}`);
    await page.getByRole('button', { name: `Event ${length}` }).waitFor();
    await page.locator('.event').first().waitFor();
    const { moved, elementsMax, made, requests } = await scrolled(page, selector, 60);
    console.info(`${selector}: ${moved} pixels, ${elementsMax} elements at most, ${made} made, ${requests} requests`);
    expect(moved).toBeGreaterThan(framesMax * 30); // it was really scrolled
    expect(elementsMax).toBeLessThan(600);
    expect(made / moved).toBeLessThan(0.5); // what comes into view is made once
    expect(requests).toBeLessThan(20);
    expectClean();
  });
});
