// A thread of 100 000 events in the console: it opens at once, scrolls without a jerk, and any event is one step away.
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { startStandalone } from '../e2e/standalone-process.ts';
import { consoleSpecs } from './browser.ts';
import { importLongThread } from './long-thread.ts';

/** What runs in the page. */
declare const document: { querySelector(selector: string): { scrollBy(x: number, y: number): void } | null };
declare function requestAnimationFrame(callback: (at: number) => void): void;

const events = 100_000;
let thread = '';
let length = 0;
const system = consoleSpecs(startStandalone, async ({ runtime }) => {
  ({ thread, length } = await importLongThread(runtime, events));
});

/** Frames per second while the element is scrolled by so many pixels per frame, and how many the page has at rest. */
async function scrolled(
  page: Page,
  selector: string,
  pixels: number,
): Promise<{ readonly moving: number; readonly atRest: number }> {
  return page.evaluate(
    async ({ selector: wanted, pixels: step, framesMax }) => {
      const element = document.querySelector(wanted);
      if (element === null) throw new Error(`there is no ${wanted}`);
      const measure = (each: () => void): Promise<number> =>
        new Promise((resolve) => {
          let frames = 0;
          let began = 0;
          const frame = (at: number): void => {
            began ||= at;
            each();
            if (frames === framesMax) resolve((frames * 1_000) / (at - began));
            frames += 1;
            if (frames <= framesMax) requestAnimationFrame(frame);
          };
          requestAnimationFrame(frame);
        });
      const atRest = await measure(() => {});
      const moving = await measure(() => element.scrollBy(0, -step));
      return { moving, atRest };
    },
    { selector, pixels, framesMax: 240 },
  );
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
  ])('scrolls its %s at 50 frames per second or more', async (_name, selector) => {
    const { page, expectClean } = await system.open(`/threads/${thread}`);
    await page.getByRole('button', { name: `Event ${length}` }).waitFor();
    await page.locator('.event').first().waitFor();
    const { moving, atRest } = await scrolled(page, selector, 60);
    console.info(`${selector}: ${moving.toFixed(0)} frames/s, ${atRest.toFixed(0)} at rest`);
    // A machine whose browser has fewer frames at rest is measured against those.
    expect(moving).toBeGreaterThanOrEqual(Math.min(50, atRest * 0.8));
    expectClean();
  });
});
