// `npm run bench:load` must keep working: it runs small, on the built app, and its checkers find nothing. No time is
// asserted.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseLoadOptions } from '../../bench/load/options.ts';

const root = join(import.meta.dirname, '..', '..');
const isBuilt = existsSync(join(root, 'apps', 'standalone', 'dist', 'main.js'));

describe('the command line of the load', () => {
  it('has the load target as its defaults', () => {
    expect(parseLoadOptions([])).toEqual({
      ...{ topology: 'cluster', minutes: 10, rate: 50, tenants: 20, threads: 20 },
      ...{ modelMs: 200, toolMs: 50, cores: 2, isJson: false },
    });
    expect(parseLoadOptions(['--help'])).toBeNull();
  });

  it('refuses what it does not know, and what has no bound, in a sentence', () => {
    expect(() => parseLoadOptions(['--topology', 'cloud'])).toThrow(
      '--topology cloud: there are cluster and standalone',
    );
    expect(() => parseLoadOptions(['--minutes', '600'])).toThrow(
      '--minutes 600: a number above 0 and up to 60 is wanted',
    );
    expect(() => parseLoadOptions(['--rate', 'much'])).toThrow('--rate much: a number above 0');
    expect(() => parseLoadOptions(['--fast'])).toThrow('--fast');
  });
});

describe.skipIf(!isBuilt)('npm run bench:load', () => {
  it('small, in one process: every message is a turn, and no promise is broken', () => {
    const args = ['--topology', 'standalone', '--minutes', '0.1', '--rate', '5', '--tenants', '3', '--threads', '2'];
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--conditions=dormouse-source', 'bench/load/load.ts', ...args, '--tool-ms', '20', '--model-ms', '50', '--json'],
      { cwd: root, encoding: 'utf8', timeout: 200_000 },
    );
    expect([status, stderr]).toEqual([0, expect.any(String)]);
    const result = JSON.parse(stdout);
    expect(result.violations).toEqual([]);
    expect(result.messages).toMatchObject({ sent: 80, acknowledged: 80, unanswered: 0, statuses: { 202: 80 } });
    expect(result.turnsPerSecond).toBe(5);
    expect(result.commits).toBeGreaterThan(80 * 4);
    expect(result.ackMs.p99).toBeGreaterThan(0);
    expect(result.storeMs.p99).toBeGreaterThan(0);
  });
});
