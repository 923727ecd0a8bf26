// `npm run chaos`: faults on real servers, and what was lost by them. The usage below says how it ends.
import { readFlags, refuse } from '../../tools/flags.ts';
import { serviceCache } from '../services/service-cache.ts';
import { ServerMissing } from '../services/service.ts';
import { crowdKinds } from './crowd.ts';
import { faultKinds } from './mischief.ts';
import { type ChaosOrder, type ChaosReport, proofs, runChaos } from './run-chaos.ts';

const warmSeconds = 45;
const phaseSecondsMax = 60;
const phaseSecondsMin = 10;
const violationsShownMax = 50;

const command = 'npm run chaos';
const usage = `${command} -- [options]: faults on a cluster with real servers, and what was lost by them

  --seed N             which faults, and when (default: by the clock)
  --minutes M          of faults (default 2); a quiet phase, and one beside a crowd, come before
  --seconds S          the same in seconds
  --threads T          conversations at once (default 24)
  --crowd NAME         ${crowdKinds.join(' | ')} (default both): what else keeps the cluster busy
  --faults NAME        ${Object.keys(faultKinds).join(' | ')} (default storm)
  --rest S             seconds that it may take to come to rest afterwards (default 300)
  --json               the report as JSON
  --help               this text

Ends with 1 when something was lost, doubled, starved or never came to rest, with 2 for an option that there is not,
with 77 when this machine cannot have the servers, and after a signal with 130.`;

const { values } = readFlags(usage, {
  seed: { type: 'string', default: String(Date.now() % 100_000) },
  minutes: { type: 'string', default: '2' },
  seconds: { type: 'string' },
  threads: { type: 'string', default: '24' },
  crowd: { type: 'string', default: 'both' },
  faults: { type: 'string', default: 'storm' },
  rest: { type: 'string', default: '300' },
  json: { type: 'boolean', default: false },
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130)); // children end too
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const seconds = values.seconds === undefined ? Number(values.minutes) * 60 : Number(values.seconds);
const before = Math.min(phaseSecondsMax, Math.max(phaseSecondsMin, Math.round(seconds / 10)));
const crowd = crowdKinds.find((kind) => kind === values.crowd);
if (crowd === undefined) refuse(`--crowd ${values.crowd}: there are ${crowdKinds.join(', ')}.`, command);
const { faults } = values;
if (faults !== 'storm' && faults !== 'moves')
  refuse(`--faults ${faults}: there are ${Object.keys(faultKinds).join(', ')}.`, command);
for (const [name, value] of Object.entries({ ...values, seconds }))
  if (['seed', 'seconds', 'threads', 'rest'].includes(name) && !(Number(value) >= 0))
    refuse(`--${name} ${String(value)}: a number is wanted.`, command);
say(`seed ${values.seed}, ${seconds} s of faults: ${faults}`);
const report = await ranOrCannot({
  seed: Number(values.seed),
  ...{ seconds, warmSeconds, quietSeconds: before, crowdSeconds: before, crowd, faults },
  threads: Number(values.threads),
  restSeconds: Number(values.rest),
  cache: serviceCache,
  say,
});
if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`);
else print(report);
process.exit(report.violations.length === 0 ? 0 : 1);

function print({ seed, counted, unseen, violations, found, waits, ...ran }: ChaosReport): void {
  const out = (line: string): void => void process.stdout.write(`${line}\n`);
  for (const [name, count] of Object.entries(counted)) out(`${String(count).padStart(8)}  ${name}`);
  out('');
  for (const event of unseen) out(`never taken, so nothing is proved: ${proofs[event]} (${event})`);
  for (const violation of violations.slice(0, violationsShownMax)) out(`VIOLATION ${JSON.stringify(violation)}`);
  if (violations.length > violationsShownMax)
    out(`… and ${violations.length - violationsShownMax} more; all with --json`);
  for (const [phase, { messages, inTime, never, p50, p99, max }] of Object.entries(waits)) {
    const waited = `p50 ${p50} ms, p99 ${p99} ms, at most ${max} ms`;
    out(
      `healthy neighbours, ${phase}: ${messages} messages, ${inTime} answered in the phase, ${never} never; ${waited}`,
    );
  }
  out(
    `seed ${seed}: ${ran.seconds} s, ${ran.messages} messages in ${ran.threads} threads, ${ran.commits} commits, ${violations.length} violations: ${found.lost} lost, ${found.doubled} doubled, ${found.unended} never at rest`,
  );
}

async function ranOrCannot(order: ChaosOrder): Promise<ChaosReport> {
  try {
    return await runChaos(order);
  } catch (error) {
    if (!(error instanceof ServerMissing)) throw error;
    say(error.message);
    process.exit(77);
  }
}
