// npm run chaos -- [--seed N] [--minutes M | --seconds S] [--threads T] [--json]
//
// Ends with 1 when something was lost or doubled, with 77 when this machine cannot have the servers.
import { parseArgs } from 'node:util';
import { serviceCache } from '../services/service-cache.ts';
import { ServerMissing } from '../services/service.ts';
import { type ChaosOrder, type ChaosReport, proofs, runChaos } from './run-chaos.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    minutes: { type: 'string', default: '2' },
    seconds: { type: 'string' },
    threads: { type: 'string', default: '24' },
    json: { type: 'boolean', default: false },
  },
});
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const seconds = values.seconds === undefined ? Number(values.minutes) * 60 : Number(values.seconds);
say(`seed ${values.seed}, ${seconds} s`);
const report = await ranOrCannot({
  seed: Number(values.seed),
  seconds,
  threads: Number(values.threads),
  cache: serviceCache,
  say,
});
if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`);
else {
  const rows = Object.entries(report.counted).map(([name, count]) => `${String(count).padStart(8)}  ${name}`);
  process.stdout.write(`${rows.join('\n')}\n\n`);
  for (const event of report.unseen)
    process.stdout.write(`never taken, so nothing is proved: ${proofs[event]} (${event})\n`);
  for (const violation of report.violations) process.stdout.write(`VIOLATION ${JSON.stringify(violation)}\n`);
  process.stdout.write(
    `seed ${report.seed}: ${report.seconds} s, ${report.messages} messages in ${report.threads} threads, ${report.commits} commits, ${report.violations.length} violations\n`,
  );
}
process.exit(report.violations.length === 0 ? 0 : 1);

async function ranOrCannot(order: ChaosOrder): Promise<ChaosReport> {
  try {
    return await runChaos(order);
  } catch (error) {
    if (!(error instanceof ServerMissing)) throw error;
    say(error.message);
    process.exit(77);
  }
}
