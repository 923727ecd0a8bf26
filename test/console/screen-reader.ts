// A virtual screen reader in a page: it reads the accessibility tree of the page as it is, and what it would speak is
// text.
//
// Invariants:
//   V1. It is put into the page by the debugger, bundled from the installed package: the page's policy is not loosened
//       for it, and it asks for nothing.
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { expect } from 'vitest';

/** What runs in the page. */
declare const screenReader: {
  start(options: { readonly container: unknown }): Promise<void>;
  next(): Promise<void>;
  act(): Promise<void>;
  type(text: string): Promise<void>;
  press(key: string): Promise<void>;
  spokenPhraseLog(): Promise<readonly string[]>;
};
declare const document: { readonly body: unknown };

export interface ScreenReader {
  /** Moves on until a phrase fits; resolves with all that was spoken on the way. @throws Error when none fits. */
  readTo(phrase: RegExp): Promise<readonly string[]>;
  /** Waits until something that fits is announced, since the last `readTo`, `act`, `type` or `press` began. */
  hears(phrase: RegExp): Promise<void>;
  /** The default action of the element that was read last. */
  act(): Promise<void>;
  type(text: string): Promise<void>;
  press(key: string): Promise<void>;
}

const stepsMax = 400;
let bundled: Promise<string> | undefined;

export async function startScreenReader(page: Page): Promise<ScreenReader> {
  await page.evaluate(await (bundled ??= bundle())); // (V1)
  await page.evaluate(() => screenReader.start({ container: document.body }));
  const spoken = (): Promise<readonly string[]> => page.evaluate(() => screenReader.spokenPhraseLog());
  let heardTo = 0;
  const begin = async (): Promise<number> => (heardTo = (await spoken()).length);
  return {
    async readTo(phrase) {
      const from = await begin();
      const isThere = await page.evaluate(readOn, { source: phrase.source, flags: phrase.flags, steps: stepsMax });
      const said = (await spoken()).slice(from);
      if (!isThere) throw new Error(`${phrase} was not spoken, but: ${said.join(' | ')}`);
      return said;
    },
    hears: (phrase) =>
      expect
        .poll(async () => (await spoken()).slice(heardTo).join('\n'))
        .toMatch(new RegExp(phrase.source, `${phrase.flags}m`)),
    async act() {
      await begin();
      await page.evaluate(() => screenReader.act());
    },
    async type(text) {
      await begin();
      await page.evaluate((given) => screenReader.type(given), text);
    },
    async press(key) {
      await begin();
      await page.evaluate((given) => screenReader.press(given), key);
    },
  };
}

/** Runs in the page. */
async function readOn(wanted: {
  readonly source: string;
  readonly flags: string;
  readonly steps: number;
}): Promise<boolean> {
  const phrase = new RegExp(wanted.source, wanted.flags);
  let seen = (await screenReader.spokenPhraseLog()).length;
  for (let step = 0; step < wanted.steps; step += 1) {
    await screenReader.next();
    const spoken = await screenReader.spokenPhraseLog();
    if (spoken.slice(seen).some((each) => phrase.test(each))) return true;
    seen = spoken.length;
  }
  return false;
}

async function bundle(): Promise<string> {
  const input = fileURLToPath(new URL('./screen-reader-page.ts', import.meta.url));
  const build = await rolldown({ input, platform: 'browser', logLevel: 'silent' });
  const { output } = await build.generate({ format: 'iife' });
  await build.close();
  return output[0].code;
}
