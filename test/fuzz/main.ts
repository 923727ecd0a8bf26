// `npm run fuzz`: malformed, hostile and broken requests by a seed, and what came of them. The usage below says how it
// ends.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endClusters, startCluster } from '../cluster/cluster-process.ts';
import type { System } from '../e2e/conversation.ts';
import { cleanUp, startStandalone } from '../e2e/standalone-process.ts';
import { startOwnServers } from '../services/own-servers.ts';
import { readFlags, refuse } from '../../tools/flags.ts';
import { gaugedFrom } from './process-gauge.ts';
import { type FuzzReport, fuzzedSettings, runFuzz } from './run-fuzz.ts';

const command = 'npm run fuzz';
const usage = `${command} -- [options]: broken and hostile requests at the client API and the callback endpoint

  --seed N             which requests (default: by the clock); round R of a seed is always the same
  --minutes M          how long (default 2)
  --from R             the first round (default 0)
  --rounds K           how many at most (default: as many as fit)
  --topology NAME      standalone | cluster (default standalone)
  --json               the report as JSON
  --help               this text

Ends with 1 when something was found, with 2 for an option that there is not, with 77 when this machine cannot have the
servers of a cluster, and after a signal with 130.`;

const { values } = readFlags(usage, {
  seed: { type: 'string', default: String(Date.now() % 100_000) },
  minutes: { type: 'string', default: '2' },
  from: { type: 'string', default: '0' },
  rounds: { type: 'string', default: '1000000' },
  topology: { type: 'string', default: 'standalone' },
  json: { type: 'boolean', default: false },
});
const { topology } = values;
if (topology !== 'standalone' && topology !== 'cluster')
  refuse(`--topology ${topology}: there are standalone, cluster.`, command);
const [seed, minutes, from, roundsMax] = [values.seed, values.minutes, values.from, values.rounds].map(Number);
for (const name of ['seed', 'minutes', 'from', 'rounds'] as const)
  if (!(Number(values[name]) >= 0)) refuse(`--${name} ${values[name]}: a number is wanted.`, command);

const cannot = 77;
const platformKey = 'platform-key-of-a-fuzz-run';
const directory = mkdtempSync(join(tmpdir(), 'dormouse-fuzz-'));
const closing: (() => Promise<unknown>)[] = [cleanUp, endClusters];
const end = async (code: number): Promise<never> => {
  for (const close of closing) await close();
  rmSync(directory, { recursive: true, force: true });
  process.exit(code);
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void end(130));
const say = (line: string): void => void process.stderr.write(`${line}\n`);

const environment = { ...fuzzedSettings, ...gaugedFrom(directory), DORMOUSE_PLATFORM_KEY: platformKey };
say(`seed ${seed}, ${minutes} minutes, ${topology}`);
const system = topology === 'standalone' ? await startStandalone({ env: environment }) : await startedCluster();
const order = {
  seed: seed ?? 0,
  from: from ?? 0,
  ms: (minutes ?? 0) * 60_000,
  roundsMax: roundsMax ?? 0,
  findingsMax: 20,
  say,
};
const report = await runFuzz({ system, platformKey, gauges: directory }, order).catch(async (error: unknown) => {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return end(1);
});
if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`);
else print(report);
await end(report.findings.length === 0 ? 0 : 1);

async function startedCluster(): Promise<System> {
  const own = mkdtempSync(join(tmpdir(), 'dormouse-fuzz-servers-'));
  const { servers, missing } = await startOwnServers(own);
  closing.push(async () => {
    for (const server of servers.values()) await server.stop();
    rmSync(own, { recursive: true, force: true });
  });
  if (missing !== null) {
    say(missing);
    return end(cannot);
  }
  const urlOf = (name: 'kafka' | 'mongo' | 'redis'): string => servers.get(name)?.url ?? '';
  return startCluster({ kafka: urlOf('kafka'), mongo: urlOf('mongo'), redis: urlOf('redis') }, environment);
}

function print({ findings, statuses, reached, ...ran }: FuzzReport): void {
  const out = (line: string): void => void process.stdout.write(`${line}\n`);
  for (const [status, count] of Object.entries(statuses)) out(`${String(count).padStart(8)}  answered ${status}`);
  out(`answered 2xx at least once: ${reached.join(', ')}`);
  for (const { round, case: index, wrong, request, answers } of findings) {
    out(`\nFOUND in round ${round}${index === null ? '' : `, case ${index}`}: ${wrong}`);
    if (request !== '') out(`  sent:     ${request}`);
    for (const answer of answers) out(`  answered: ${answer}`);
    out(`  again:    ${command} -- --seed ${ran.seed} --from ${round} --rounds 1 --topology ${topology}`);
  }
  out(
    `\nseed ${ran.seed}: ${ran.rounds} rounds, ${ran.cases} cases, ${ran.requests} requests, ${findings.length} findings`,
  );
}
