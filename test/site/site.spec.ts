// The documents as a site: built, and opened in a real browser.
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addressOf, sitePages } from '../../docs/.vitepress/site-pages.ts';
import { serveFiles, type StaticServer } from '../../tools/docs/static-server.ts';
import { findBrowser } from '../console/browser.ts';
import { root } from '../docs/document.ts';
import { brokenTargets, foreignResources, type Site } from './site-rules.ts';

const dist = join(root, 'docs', '.vitepress', 'dist');
const read = (address: string): string => readFileSync(join(dist, address), 'utf8');
const site: Site = { has: (address) => existsSync(join(dist, address)), read };

const fileOf = (page: string): string => `${addressOf(page).replace(/\/$/, '/index')}.html`;
const pages = sitePages();
/** A build takes 15 s of processor time; after `npm test` has built, it is taken from the cache. */
const buildMsMax = 400_000;

beforeAll(async () => {
  const nx = join(root, 'node_modules', 'nx', 'dist', 'bin', 'nx.js');
  const args = [nx, 'run', 'dormouse:docs', '--outputStyle=static'];
  await promisify(execFile)(process.execPath, args, { cwd: root }).catch(
    (error: Error & { readonly stdout?: string }) => {
      throw new Error(`the site was not built:\n${error.stdout ?? error.message}`);
    },
  );
}, buildMsMax);

const files = (): readonly string[] =>
  readdirSync(dist, { recursive: true, encoding: 'utf8' }).map((path) => `/${path.replaceAll(sep, '/')}`);

describe('the site', () => {
  it('has every document as a page, and every page but the first in its sidebar', () => {
    expect(pages.length).toBeGreaterThan(150);
    expect(pages.filter((page) => !site.has(fileOf(page)))).toEqual([]);
    const sidebar = read('/docs/rap.html');
    const linked = new Set([...sidebar.matchAll(/href="([^"#]*)"/g)].map(([, target = '']) => target));
    const wanted = pages.filter((page) => page !== 'README.md').map(fileOf);
    expect(wanted.filter((file) => !linked.has(file) && !linked.has(file.replace(/index\.html$/, '')))).toEqual([]);
  });

  it('S1 loads nothing from another host', () => {
    const texts = files().filter((address) => /\.(?:html|css)$/.test(address) && !address.startsWith('/source/'));
    expect(texts.flatMap((address) => foreignResources(address, read(address)))).toEqual([]);
  });

  it('S2 leads somewhere with every link', () => {
    expect(pages.flatMap((page) => brokenTargets(fileOf(page), site))).toEqual([]);
  });

  it('has an index for its search, with every page', async () => {
    const [index = ''] = files().filter((address) => /\/@localSearchIndexroot[^/]*\.js$/.test(address));
    const { default: text } = (await import(join(dist, index))) as { readonly default: string };
    const { documentIds } = JSON.parse(text) as { readonly documentIds: Readonly<Record<string, string>> };
    const indexed = new Set(Object.values(documentIds).map((id) => id.replace(/#.*$/, '')));
    expect(
      pages.map(fileOf).filter((file) => !indexed.has(file) && !indexed.has(file.replace(/index\.html$/, ''))),
    ).toEqual([]);
  });
});

const found = await findBrowser();

describe('a page in a browser', () => {
  let server: StaticServer;
  let browser: Browser;
  beforeAll(async () => {
    if (found.available) [server, browser] = await Promise.all([serveFiles(dist, 0), found.launch()]);
  });
  beforeEach((context) => {
    if (!found.available) context.skip(found.reason);
  });
  afterAll(async () => {
    if (!found.available) return;
    await browser.close();
    await server.close();
  });

  /** A page, and what went wrong on it. */
  async function open(path: string) {
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(`console: ${message.text()}`);
    });
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol !== 'data:' && origin !== server.url) complaints.push(`foreign request: ${request.url()}`);
    });
    page.on('response', (response) => {
      if (response.status() >= 400) complaints.push(`${response.status()}: ${response.url()}`);
    });
    await page.goto(server.url + path, { waitUntil: 'networkidle' });
    return { page, complaints };
  }

  it.each([
    ['/', 'Dormouse'],
    ['/docs/start/developer.html', 'An agent that runs'],
    ['/docs/reference/events.html', 'message_accepted'],
  ])('%s asks no other host, and reports no error', async (path, words) => {
    const { page, complaints } = await open(path);
    await page.getByText(words).first().waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('finds a word, and goes where it stands', async () => {
    const { page, complaints } = await open('/docs/');
    await page.locator('.VPNavBarSearch button').click();
    await page.locator('.VPLocalSearchBox input').fill('DORMOUSE_TOOL_ACK_TIMEOUT_MS');
    await page.locator('.VPLocalSearchBox .result').first().click();
    await page.waitForURL(/\.html/);
    await page.getByText('DORMOUSE_TOOL_ACK_TIMEOUT_MS').first().waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });
});

describe('a rule of the site', () => {
  const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'">`;
  const texts: Readonly<Record<string, string>> = { '/a.html': `${policy}<h2 id="one"></h2>`, '/x.txt': '' };
  const broken = (text: string): string[] =>
    brokenTargets('/b.html', { has: (path) => path in texts, read: (path) => texts[path] ?? text });

  it.each([
    '<script src="https://cdn.example/a.js">',
    '<link rel="stylesheet" href="//fonts.example/a.css">',
    '<img alt="" src="http://a.example/a.png">',
  ])('S1 is red for %s', (element) => {
    expect(foreignResources('/a.html', policy + element)).toEqual([expect.stringContaining('(S1)')]);
  });

  it('S1 is red for a style from elsewhere, and for a page without a policy', () => {
    expect(
      foreignResources('/a.css', '@import "https://a.example/b.css"; a { b: url(https://a.example/c) }'),
    ).toHaveLength(2);
    expect(foreignResources('/a.html', '<a href="https://a.example">a</a>')).toHaveLength(1);
    expect(foreignResources('/a.html', `${policy}<script src="/a.js"></script>`)).toEqual([]);
  });

  it.each(['<a href="/none.html">', '<a class="x" href="./none">', '<a href="/a.html#two">'])(
    'S2 is red for %s',
    (link) => {
      expect(broken(link)).toEqual([expect.stringContaining('(S2)')]);
    },
  );

  it('S2 is green for what is there', () => {
    expect(broken('<a href="/a.html#one"><a href="x.txt"><a href="https://a.example">')).toEqual([]);
  });
});
