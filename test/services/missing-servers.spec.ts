// A machine that cannot have a server: a test that needs it is skipped with the reason and the remedy, and nothing
// fails. The specs of the cluster tier run without any program, without a cache, and with given servers that do not
// listen.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { specPatienceMs } from '../patience.ts';
import { recipes } from './recipes.ts';
import { runCommand } from './run-command.ts';
import type { ServiceRecipe } from './service.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const addresses = { kafka: '127.0.0.1:1', mongo: 'mongodb://127.0.0.1:1/', redis: 'redis://127.0.0.1:1' };
const noRedis = /^no Redis here: .* set DORMOUSE_TEST_REDIS_URL\.$/;
const noKafka = /^no Kafka here: .* set DORMOUSE_TEST_KAFKA_BROKERS /;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dormouse-missing-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

interface Counted {
  readonly passed: number;
  readonly failed: readonly { readonly name: string; readonly reason: string }[];
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
}

/** @throws when a test fails. */
async function clusterTier(given: readonly ServiceRecipe['name'][], ...filter: readonly string[]): Promise<Counted> {
  for (const { name, variable } of recipes) vi.stubEnv(variable, given.includes(name) ? addresses[name] : undefined);
  for (const name of ['bin', 'home', 'tmp']) mkdirSync(join(folder, name));
  const summary = join(folder, 'summary.json');
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const reporter = `--reporter=${join(root, 'tools', 'test-summary.mjs')}`;
  await runCommand(
    process.execPath,
    [vitest, 'run', '--config', join(root, 'vitest.cluster.config.ts'), reporter, ...filter],
    {
      withinMs: specPatienceMs,
      cwd: root,
      environment: {
        PATH: join(folder, 'bin'),
        HOME: join(folder, 'home'),
        TMPDIR: join(folder, 'tmp'),
        DORMOUSE_TEST_SUMMARY: summary,
      },
    },
  );
  return JSON.parse(readFileSync(summary, 'utf8')) as Counted;
}

const filesOf = ({ skipped }: Counted): readonly string[] =>
  [...new Set(skipped.map(({ name }) => name.split(' > ')[0] ?? ''))].toSorted();

describe('on a machine that cannot have a server', () => {
  it('scenarios on a system are skipped, whatever their hooks do', async () => {
    const files = [
      'test/conformance/hostile.spec.ts',
      'test/conformance/trust.spec.ts',
      'test/e2e/bad-input.spec.ts',
      'test/e2e/reactive.spec.ts',
    ];
    const counted = await clusterTier(['kafka', 'mongo'], ...files);
    expect(counted).toMatchObject({ passed: 0, failed: [] });
    expect(filesOf(counted)).toEqual(files);
    for (const { reason } of counted.skipped) expect(reason).toMatch(noRedis);
  });

  it('specs that start servers of their own are skipped, also when all are given', async () => {
    const files = [
      'test/chaos/chaos.spec.ts',
      'test/cluster/absent-at-start.spec.ts',
      'test/cluster/continuation.spec.ts',
      'test/cluster/outage.spec.ts',
    ];
    const counted = await clusterTier(['kafka', 'mongo', 'redis'], ...files);
    expect(counted).toMatchObject({ passed: 0, failed: [] });
    expect(filesOf(counted)).toEqual(files);
    for (const { reason } of counted.skipped) expect(reason).toMatch(noKafka);
  });

  it('so are tests that do, of specs that otherwise use what is given', async () => {
    const files = ['test/cluster/kafka-faults.spec.ts', 'test/cluster/redis.spec.ts'];
    const theirOwn = ['-t', 'a broker of its own|is killed and comes back|stands still'];
    const counted = await clusterTier(['kafka', 'redis'], ...files, ...theirOwn);
    expect(counted).toMatchObject({ passed: 0, failed: [] });
    const reasons = counted.skipped.map(({ reason }) => reason).filter((reason) => reason.includes(' here: '));
    expect(reasons.toSorted()).toEqual([
      expect.stringMatching(noKafka),
      expect.stringMatching(noKafka),
      expect.stringMatching(noRedis),
      expect.stringMatching(noRedis),
    ]);
  });
});
