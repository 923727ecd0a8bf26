// The output of `npm run sim`.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const main = join(import.meta.dirname, '..', '..', 'libs', 'testing', 'dist', 'simulator', 'main.js');
const run = (...args: readonly string[]) => spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });

describe('npm run sim', () => {
  it('explains itself', () => {
    const { status, stdout } = run('--help');
    expect(status).toBe(0);
    for (const option of ['--seeds', '--from', '--seed', '--topology', '--break', '--json'])
      expect(stdout).toContain(option);
  });

  it.each([
    [['--sed', '7'], "'--sed'"],
    [['--seed', 'seven'], 'whole number, not "seven"'],
    [['--topology', 'flat'], 'durable or standalone, not "flat"'],
    [['--break', 'nothing'], 'no mutant "nothing"'],
  ])('refuses %j and says where to look', (args, says) => {
    const { status, stderr } = run(...args);
    expect([status, stderr]).toEqual([2, expect.stringContaining(says)]);
    expect(stderr).toContain('--help');
  });
});
