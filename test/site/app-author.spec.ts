// The start page for authors of web apps: its backend's lines in a shell, and its page in a real browser, from another
// origin than the runtime's.
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { serveFiles, type StaticServer } from '../../tools/docs/static-server.ts';
import { findBrowser } from '../console/browser.ts';
import { readDocument } from '../docs/document.ts';
import { cleanUp, scratchDirectory, type Standalone, startStandalone } from '../e2e/standalone-process.ts';

const { text } = readDocument('docs/start/app-author.md');
const shown = { api: 'http://127.0.0.1:7420', page: 'http://127.0.0.1:8000' };

function example(name: string): string {
  const code = new RegExp(`<!-- example:${name} -->\\s*\`\`\`\\w+\\n([^]*?)\`\`\``).exec(text)?.[1];
  if (code === undefined) throw new Error(`the page has no example ${name}`);
  return code;
}

const found = await findBrowser();

describe('the start page for authors of web apps', () => {
  let folder: string;
  let page: StaticServer;
  let at: Standalone;
  let browser: Browser;
  beforeAll(async () => {
    folder = await scratchDirectory();
    await mkdir(join(folder, 'page'));
    page = await serveFiles(join(folder, 'page'), 0);
    at = await startStandalone({
      dataDir: join(folder, '.dormouse'),
      env: { DORMOUSE_ALLOWED_ORIGINS: page.url },
    });
    if (found.available) browser = await found.launch();
  });
  beforeEach((context) => {
    if (!found.available) context.skip(found.reason);
  });
  afterAll(async () => {
    if (found.available) await browser.close();
    await page.close();
    await cleanUp();
  });

  it('leads to a page of another origin that shows answers and asks before a destructive call', async () => {
    const real = (code: string): string => code.replaceAll(shown.api, at.url).replaceAll(shown.page, page.url);
    await writeFile(join(folder, 'page', 'index.html'), real(example('page')));
    const { stdout } = await promisify(execFile)('bash', ['-ec', real(example('backend'))], { cwd: folder });
    const opened = await browser.newPage();
    const asked: string[] = [];
    opened.on('dialog', (dialog) => {
      asked.push(dialog.message());
      void dialog.accept(dialog.type() === 'prompt' ? 'Do not deploy' : undefined);
    });
    await opened.goto(stdout.trim());
    const say = async (words: string): Promise<void> => {
      await opened.getByLabel('Message').fill(words);
      await opened.getByRole('button', { name: 'Send' }).click();
    };
    await say('What is the weather in Oslo?');
    await opened.getByText('assistant: weather says: Oslo, Norway').waitFor();
    await say('Delete everything.');
    await opened.getByText('assistant: delete_everything says:').waitFor();
    await say('Deploy the service "api" to production.');
    await opened.getByText('assistant: deploy says: api was not deployed').waitFor();
    expect(asked).toEqual([
      'Allow delete_everything of example-tools? {}',
      expect.stringMatching(/^May api be deployed to production\?.*Do not deploy/),
    ]);
    expect(await opened.locator('#said li').allTextContents()).toMatchObject([
      'you: What is the weather in Oslo?',
      expect.stringContaining('assistant: weather says'),
      'you: Delete everything.',
      expect.stringContaining('assistant: delete_everything says'),
      'you: Deploy the service "api" to production.',
      expect.stringContaining('assistant: deploy says: api was not deployed'),
    ]);
  });
});
