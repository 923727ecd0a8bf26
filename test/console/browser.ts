// A real Chromium for the specs of the console, and pages of it that are watched.
//
// Invariants:
//   B1. A page notes every error, every refusal of its content security policy and every request to another origin than
//       the console's; `expectClean` fails with them.
//   B2. Where there is no Chromium, the reason is the answer, and specs are skipped with it.
import { chromium as playwright, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { chromium } from '../services/chromium.ts';
import { serviceCache } from '../services/service-cache.ts';
import type { System } from '../e2e/conversation.ts';
import { patienceMs } from '../patience.ts';
import { cleanUp, startStandalone, type Standalone } from '../e2e/standalone-process.ts';

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

/** A runtime and a browser. */
export interface ConsoleSystem<Runtime extends System = Standalone> {
  readonly runtime: Runtime;
  readonly browser: Browser;
  /** A page of its own that is signed in, at this path. */
  readonly open: (path: string, options?: PageOptions) => Promise<Watched>;
}

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
  readonly isSignedIn?: boolean;
}

/**
 * The runtime and the browser of a spec file: they start before its first spec, `arrange` follows, and they end after
 * its last. Where there is no browser, its specs are skipped with the reason. (B2)
 */
export function consoleSpecs<Runtime extends System = Standalone>(
  start: () => Promise<Runtime>,
  arrange: (system: ConsoleSystem<Runtime>) => Promise<unknown> = () => Promise.resolve(),
): ConsoleSystem<Runtime> {
  let started: ConsoleSystem<Runtime> | undefined;
  let reason = 'the runtime has not started';
  const current = (): ConsoleSystem<Runtime> => {
    if (started === undefined) throw new Error(reason);
    return started;
  };
  beforeAll(async () => {
    const found = await findBrowser();
    if (!found.available) {
      reason = found.reason;
      return;
    }
    const [runtime, browser] = await Promise.all([start(), found.launch()]);
    started = consoleOf(runtime, browser);
    await arrange(started);
  });
  afterAll(async () => {
    await started?.browser.close();
    await cleanUp();
  });
  beforeEach((context) => {
    if (started === undefined) context.skip(reason);
  });
  return {
    get runtime() {
      return current().runtime;
    },
    get browser() {
      return current().browser;
    },
    open: (path, options) => current().open(path, options),
  };
}

/** A standalone process and a browser; the caller ends both. @throws Error where there is no browser. */
export async function startConsole(): Promise<ConsoleSystem> {
  const found = await findBrowser();
  if (!found.available) throw new Error(found.reason);
  const [runtime, browser] = await Promise.all([startStandalone(), found.launch()]);
  return consoleOf(runtime, browser);
}

const consoleOf = <Runtime extends System>(runtime: Runtime, browser: Browser): ConsoleSystem<Runtime> => ({
  runtime,
  browser,
  open: (path, options) => openPage(browser, runtime, path, options),
});

async function openPage(browser: Browser, runtime: System, path: string, options: PageOptions = {}): Promise<Watched> {
  const { width = 1360, height = 860, theme = 'light', isSignedIn = true } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    permissions: ['clipboard-read', 'clipboard-write'],
    locale: 'en-GB',
    timezoneId: 'UTC',
  });
  context.setDefaultTimeout(patienceMs);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (/content security policy|violates/i.test(message.text())) complaints.push(`policy: ${message.text()}`);
  });
  page.on('request', (request) => {
    const url = request.url();
    if (/^(?:https?|wss?):/.test(url) && new URL(url).origin !== runtime.url)
      complaints.push(`foreign request: ${url}`);
  });
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  if (isSignedIn) {
    const link = await runtime.request('POST', '/v1/session/links');
    await page.goto(link.json.url);
  }
  await page.goto(runtime.url + path);
  return { page, context, complaints, expectClean: () => expect(complaints).toEqual([]) };
}
