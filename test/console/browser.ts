// A real Chromium for the specs of the console, and pages of it that are watched.
//
// Invariants:
//   B1. A page notes every error, every refusal of its content security policy and every request to another origin than
//       the console's; `expectClean` fails with them.
//   B2. Where there is no Chromium, the reason is the answer, and specs are skipped with it.
import { chromium as playwright, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { chromium } from '../services/chromium.ts';
import { serviceCache } from '../services/service-cache.ts';
import { startStandalone, type Standalone, type StartOptions } from '../e2e/standalone-process.ts';

type Found =
  | { readonly available: true; readonly launch: () => Promise<Browser> }
  | { readonly available: false; readonly reason: string };

/** (B2) */
export async function findBrowser(): Promise<Found> {
  try {
    const { executablePath, env } = await chromium(serviceCache, (line) => console.info(line));
    const inherited = Object.fromEntries(
      Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const args = ['--no-sandbox', '--disable-gpu', '--force-prefers-reduced-motion'];
    return {
      available: true,
      launch: () => playwright.launch({ executablePath, env: { ...inherited, ...env }, args }),
    };
  } catch (error) {
    return { available: false, reason: `no browser here: ${(error as Error).message}` };
  }
}

export interface Watched {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What went wrong so far. */
  readonly complaints: readonly string[];
  /** (B1) */
  readonly expectClean: () => void;
}

export interface ConsoleSystem {
  readonly standalone: Standalone;
  readonly browser: Browser;
  /** A page of its own that is signed in, at this path. */
  readonly open: (path: string, options?: PageOptions) => Promise<Watched>;
  readonly stop: () => Promise<void>;
}

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
  readonly isSignedIn?: boolean;
}

/** A standalone process and a browser. @throws Error when there is none: ask `findBrowser` first. */
export async function startConsole(options: StartOptions = {}): Promise<ConsoleSystem> {
  const found = await findBrowser();
  if (!found.available) throw new Error(found.reason);
  const [standalone, browser] = await Promise.all([startStandalone(options), found.launch()]);
  return {
    standalone,
    browser,
    open: (path, pageOptions) => openPage(browser, standalone, path, pageOptions),
    stop: async () => {
      await browser.close();
      await standalone.stop();
    },
  };
}

async function openPage(
  browser: Browser,
  standalone: Standalone,
  path: string,
  options: PageOptions = {},
): Promise<Watched> {
  const { width = 1360, height = 860, theme = 'light', isSignedIn = true } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    permissions: ['clipboard-read', 'clipboard-write'],
    locale: 'en-GB',
    timezoneId: 'UTC',
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (/content security policy|violates/i.test(message.text())) complaints.push(`policy: ${message.text()}`);
  });
  page.on('request', (request) => {
    const url = request.url();
    if (/^(?:https?|wss?):/.test(url) && new URL(url).origin !== standalone.url)
      complaints.push(`foreign request: ${url}`);
  });
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  if (isSignedIn) {
    const link = await standalone.request('POST', '/v1/session/links');
    await page.goto(link.json.url);
  }
  await page.goto(standalone.url + path);
  return { page, context, complaints, expectClean: () => expect(complaints).toEqual([]) };
}
