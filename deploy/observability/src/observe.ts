// What a cluster under `--observability` shows, for a terminal:
//
//   npm run observe -- trace THREAD|TRACE [--url URL]               the last turn of a thread, or one trace, as the
//                                                                   trace store has it
//   npm run observe -- panels [DASHBOARD] [--url URL] [--minutes N] the queries of dashboards, as pages of Prometheus
//
// Ends with 1 when the store has no such trace (spans arrive a second or two after what they show), with 2 for wrong
// usage, with 3 when no store answers.
import { readFlags } from '../../../tools/flags.ts';
import { dashboards } from './files.ts';
import { prometheusPage } from './prometheus-page.ts';
import { type JaegerTrace, traceTree } from './trace-tree.ts';

const usage = `npm run observe -- trace THREAD|TRACE | panels [DASHBOARD]   [options]

  --url URL      where the trace store, or Prometheus, answers
  --minutes N    of the panels (default 15)
  --help         this text`;
const places = { trace: 'http://127.0.0.1:7427', panels: 'http://127.0.0.1:7426' };
const service = 'dormouse-thread-processor';
const lookBackDays = 7;
const tracesMax = 50;

const { values, positionals } = readFlags(
  usage,
  { url: { type: 'string' }, minutes: { type: 'string', default: '15' } },
  { positionals: true },
);
const [command, wanted, ...rest] = positionals;
if (rest.length > 0) fail(usage, 2);
if (command === 'trace' && wanted !== undefined) await trace(wanted, values.url ?? places.trace);
else if (command === 'panels') panels(wanted, values.url ?? places.panels);
else fail(usage, 2);

async function trace(id: string, url: string): Promise<void> {
  const path = /^[0-9a-f]{32}$/.test(id) ? `traces/${id}` : `traces?${turnsOf(id)}`;
  const answer = await fetch(`${url}/api/${path}`).catch(() => fail(`no answer at ${url}`, 3));
  const { data } = (await answer.json()) as { readonly data: readonly JaegerTrace[] | null };
  const newest = (data ?? []).toSorted((a, b) => beginOf(b) - beginOf(a))[0];
  if (newest === undefined) fail(`${url} has no trace of ${id}`, 1);
  print(traceTree(newest));
}

function turnsOf(thread: string): URLSearchParams {
  const end = Date.now() * 1_000;
  const tags = { 'gen_ai.conversation.id': thread, 'gen_ai.operation.name': 'invoke_agent' };
  return new URLSearchParams({
    ...{ service, tags: JSON.stringify(tags), limit: String(tracesMax) },
    ...{ start: String(end - lookBackDays * 86_400_000_000), end: String(end) },
  });
}

function beginOf({ spans }: JaegerTrace): number {
  return Math.min(...spans.map(({ startTime }) => startTime));
}

function panels(name: string | undefined, url: string): void {
  const chosen = dashboards.filter((each) => name === undefined || each.name === name);
  if (chosen.length === 0)
    fail(`there is no dashboard ${name}: choose ${dashboards.map((each) => each.name).join(', ')}`, 2);
  for (const { title, rows } of chosen)
    for (const row of rows)
      print([`${title}, ${row.title}`, `  ${prometheusPage(url, row.panels, Number(values.minutes))}`]);
}

function print(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

function fail(reason: string, code: number): never {
  process.stderr.write(`${reason}\n`);
  process.exit(code);
}
