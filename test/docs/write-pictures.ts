// Draws the pictures of docs/guides/observability.md, of a cluster and a standalone process that really run:
//
//   node --conditions=dormouse-source test/docs/write-pictures.ts [cluster] [phoenix]
//
// Takes about five minutes once what it needs is in the cache: the servers of the cluster, Jaeger, Phoenix and
// Chromium. Needs a build. Look at each picture before you commit it.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify, stripVTControlCharacters } from 'node:util';
import { chromium as playwright, type Page } from 'playwright-core';
import { overview } from '../../deploy/observability/src/dashboards/overview.ts';
import { prometheusPage } from '../../deploy/observability/src/prometheus-page.ts';
import { type Cluster, endClusters, startCluster } from '../cluster/cluster-process.ts';
import { openThread, say, type System, untilStatus } from '../e2e/conversation.ts';
import { cleanUp, startStandalone } from '../e2e/standalone-process.ts';
import { chromium } from '../services/chromium.ts';
import { startPhoenix } from '../services/phoenix/phoenix.ts';
import { serviceCache } from '../services/service-cache.ts';
import { root } from './document.ts';

const folder = join(root, 'docs', 'guides', 'pictures');
const bytesMax = 150_000;
const loadMs = 90_000;
const columns = 80;
const run = promisify(execFile);
const print = (line: string): void => void process.stderr.write(`${line}\n`);

const chosen = process.argv.slice(2);
const wanted = (part: string): boolean => chosen.length === 0 || chosen.includes(part);

mkdirSync(folder, { recursive: true });
const { executablePath, env } = await chromium(serviceCache, print);
const browser = await playwright.launch({ executablePath, env: { ...process.env, ...env }, args: ['--no-sandbox'] });
const scratch = mkdtempSync(join(tmpdir(), 'dormouse-pictures-'));
try {
  if (wanted('cluster')) await drawCluster();
  if (wanted('phoenix')) await drawPhoenix();
} finally {
  await browser.close();
  await endClusters();
  await cleanUp();
  rmSync(scratch, { recursive: true, force: true });
}

/** Prometheus after some minutes of conversations, and one turn twice: by the runtime, and by the trace store. */
async function drawCluster(): Promise<void> {
  const at = await startCluster('its own', {}, ['--observability']);
  if (at.prometheus === null || at.traces === null) throw new Error(`no Prometheus or no trace store:\n${at.output()}`);
  await converse(at, loadMs);
  const thread = await oneTurn(at);
  await sleep(3_000); // spans are sent every second
  const cli = join(root, 'apps', 'cli', 'dist', 'main.js');
  const traced = [cli, 'trace', thread, '--url', at.url, '--key', at.key];
  await drawTerminal('dormouse-trace', `npx @dormouse/cli trace ${thread}`, traced);
  const observe = join(root, 'deploy', 'observability', 'src', 'observe.ts');
  const stored = ['--conditions=dormouse-source', observe, 'trace', thread, '--url', at.traces];
  await drawTerminal('trace-store', `npm run -s observe -- trace ${thread}`, stored);
  await drawPrometheus(at);
  await at.stop();
}

async function converse(at: System, ms: number): Promise<void> {
  const texts = ['What is the weather in Oslo?', 'Hello!', 'What is the weather in Rome?', 'Wait a moment.'];
  const thread = await openThread(at);
  await untilStatus(at, thread, 'idle');
  const until = Date.now() + ms;
  for (let nth = 0; Date.now() < until; nth += 1) {
    await say(at, thread, texts[nth % texts.length] ?? '');
    await sleep(200 + 100 * (nth % 7));
  }
}

async function oneTurn(at: System): Promise<string> {
  const thread = await openThread(at);
  await untilStatus(at, thread, 'idle');
  await say(at, thread, 'What is the weather in Oslo?');
  return thread;
}

async function drawPrometheus(at: Cluster): Promise<void> {
  const titles = ['Turns', 'HTTP requests'];
  const panels = overview.rows.flatMap((row) => row.panels).filter(({ title }) => titles.includes(title));
  const page = await pageOf(900, 900);
  await page.goto(prometheusPage(at.prometheus ?? '', panels, 3));
  await page.waitForSelector('.rickshaw_graph svg path', { state: 'attached' }); // a line has no height of its own
  await sleep(2_000);
  await page.addStyleTag({ content: '.fixed-top { position: absolute !important }' }); // it scrolls to its last graph
  await shoot(page, 'prometheus');
}

/** The trace of a turn in a standalone process, as Phoenix draws it. */
async function drawPhoenix(): Promise<void> {
  const phoenix = await startPhoenix({ directory: join(scratch, 'phoenix'), cache: serviceCache, say: print });
  if (!phoenix.available) throw new Error(`${phoenix.reason}\n${phoenix.remedy}`);
  const { url } = phoenix.service;
  const at = await startStandalone({
    env: {
      DORMOUSE_TRACE_CONTENT: 'true',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/v1/traces`,
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf',
      OTEL_RESOURCE_ATTRIBUTES: 'openinference.project.name=dormouse',
      OTEL_BSP_SCHEDULE_DELAY: '200',
    },
  });
  const thread = await oneTurn(at);
  const { json } = await at.request('GET', `/v1/threads/${thread}/lineage`);
  await at.stop(); // its last spans are sent
  await sleep(5_000); // Phoenix writes them in batches
  const page = await pageOf(1_200, 700);
  await page.goto(`${url}/redirects/traces/${json.data.at(-1).trace_id}`);
  await page.waitForSelector('text=invoke_agent');
  await sleep(3_000);
  await shoot(page, 'phoenix');
  await phoenix.service.stop();
}

/** What a command of ours prints, in the colours of a terminal. */
async function drawTerminal(name: string, typed: string, args: readonly string[]): Promise<void> {
  // On a terminal, where the command draws with blocks; quotes are not needed in what it is given here.
  const line = ['stty', 'cols', String(columns), ';', process.execPath, ...args].join(' ');
  const { stdout } = await run('script', ['-qec', line, '/dev/null'], { env: { ...process.env, LC_ALL: 'C.UTF-8' } });
  const page = await pageOf(720, 40);
  const escaped = `$ ${typed}\n${stripVTControlCharacters(stdout)}`
    .replaceAll('\r', '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;');
  await page.setContent(
    `<body style="margin:0;background:#1c1f26;color:#d8dee9"><pre style="margin:12px;font:13px/1.35 monospace">${escaped}</pre></body>`,
  );
  await shoot(page, name);
}

function pageOf(width: number, height: number): Promise<Page> {
  return browser.newPage({ viewport: { width, height } });
}

async function shoot(page: Page, name: string): Promise<void> {
  const file = join(folder, `${name}.png`);
  writeFileSync(file, await page.screenshot({ fullPage: true }));
  await page.close();
  const { size } = statSync(file);
  if (size > bytesMax) throw new Error(`${file} has ${size} bytes, more than ${bytesMax}`);
  print(`${file}: ${size} bytes`);
}
