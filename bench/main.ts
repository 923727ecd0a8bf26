// `npm run bench`: measures, judges, prints, and writes the results to bench/results.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchOptions, isMistake, parseOptions, usage } from './src/bench-options.ts';
import type { BenchResults } from './src/report/bench-results.ts';
import { markdownOf } from './src/report/markdown-report.ts';
import { runBench } from './src/run-bench.ts';
import { verdictsOf } from './src/report/verdicts.ts';

const results = join(import.meta.dirname, 'results');
const say = (line: string): void => void process.stderr.write(`${line}\n`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130)); // ends the children
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    const options = parseOptions(args);
    if (options === 'help') {
      process.stdout.write(usage);
      return 0;
    }
    const found = await runBench(options, say);
    process.stdout.write(markdownOf(found));
    write(found, options);
    return 0;
  } catch (error) {
    if (isMistake(error)) {
      say(`${error.message}\nnpm run bench -- --help says what there is.`);
      return 2;
    }
    say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return 1;
  }
}

/** `latest` in bench/results is the last full run; other scenarios, and partial or quick runs, have their own files. */
function write(found: BenchResults, options: BenchOptions): void {
  const json = `${JSON.stringify({ ...found, verdicts: verdictsOf(found) }, null, 2)}\n`;
  if (options.json !== null) writeFileSync(options.json, json);
  const complete = found.turns && found.counts && found.growing && found.sleepers;
  const single = found.cluster ? 'cluster' : found.observability ? 'observability' : 'partial';
  const name = found.quick ? 'partial' : complete ? 'latest' : single;
  mkdirSync(results, { recursive: true });
  writeFileSync(join(results, `${name}.json`), json);
  writeFileSync(join(results, `${name}.md`), markdownOf(found));
  say(`written: bench/results/${name}.json, bench/results/${name}.md`);
}
