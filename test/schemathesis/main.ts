// The long tier: Schemathesis, which generates requests from the OpenAPI document, against a standalone process.
//
//   node test/schemathesis/main.ts [--seed N] [--seconds S], after `npm run build`
//
// Ends with 1 when an answer is not as the document says, and with 77 where there is no Python 3.10 or Schemathesis
// cannot be installed. Installed once per machine; without a network afterwards.
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { cleanUp, scratchDirectory, startStandalone } from '../e2e/standalone-process.ts';
import { fuzzedSettings } from '../fuzz/run-fuzz.ts';
import { builtOnce } from '../services/built-once.ts';
import { runCommand } from '../services/run-command.ts';
import { serviceCache } from '../services/service-cache.ts';
import { readFlags } from '../../tools/flags.ts';

const usage = `node test/schemathesis/main.ts [options]

  --seed N       of the requests (default: by the clock)
  --examples E   generated requests per operation, again and again until the time is over (default 15)
  --seconds S    how long (default 300)
  --help         this text`;
const { values } = readFlags(usage, {
  seed: { type: 'string', default: String(Date.now() % 100_000) },
  examples: { type: 'string', default: '15' },
  seconds: { type: 'string', default: '300' },
});

const checks = 'not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance';
const options = [
  ...['--checks', checks, '--phases', 'examples,coverage,fuzzing', '--max-examples', values.examples],
  ...['--seed', values.seed, '--generation-database', 'none', '--workers', '2', '--continue-on-failure'],
  ...['--request-timeout', '60', '--max-redirects', '0', '--warnings', 'off', '--suppress-health-check', 'all'],
  ...['--max-time', values.seconds],
];
const version = '4.32.5';
const cannot = 77;
const runWithinMs = 1_500_000;
const say = (line: string): void => void process.stderr.write(`${line}\n`);

const python = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']);
if (python.status !== 0) {
  say('there is no python3 of version 3.10 or newer on this machine');
  process.exit(cannot);
}
const folder = await builtOnce(serviceCache, `schemathesis-${version}`, say, install).catch((error: unknown) => {
  say(`Schemathesis cannot be installed: ${String(error)}`);
  process.exit(cannot);
});
try {
  process.exitCode = await judged(folder);
} finally {
  await cleanUp();
}

async function install(into: string): Promise<void> {
  say(`schemathesis: installing version ${version} (about a minute, 100 MB)`);
  await runCommand('python3', ['-m', 'venv', into], { withinMs: 120_000 });
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `schemathesis==${version}`];
  await runCommand(join(into, 'bin', 'python'), pip, { withinMs: 600_000 });
}

async function judged(folder: string): Promise<number> {
  const at = await startStandalone({ env: { ...fuzzedSettings, DORMOUSE_LOG_LEVEL: 'error' } });
  const directory = await scratchDirectory();
  const args = [
    '--no-color',
    'run',
    `${at.url}/openapi.json`,
    '--header',
    `Authorization: Bearer ${at.key}`,
    ...options,
  ];
  say(`seed ${values.seed}: again with --seed ${values.seed}`);
  const child = spawn(join(folder, 'bin', 'python'), ['-m', 'schemathesis.cli', ...args], {
    cwd: directory,
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: runWithinMs,
  });
  const code = await new Promise<number>((resolve) => child.once('close', (ended) => resolve(ended ?? 1)));
  const wrong = at
    .output()
    .split('\n')
    .filter((line) => line.includes('"level":"error"'));
  for (const line of wrong.slice(0, 20)) say(line);
  return code === 0 && wrong.length === 0 ? 0 : 1;
}
