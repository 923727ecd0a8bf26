// The npm scripts that take flags: each explains itself, and refuses a flag that it does not have in a sentence. Those
// that read settings (start, doctor, setup) have specs in libs/host.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../docs/document.ts';

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
const explained = [
  ...['test', 'test:all', 'check', 'cluster', 'observe', 'services', 'chaos', 'docs', 'sim', 'bench', 'release'],
];
const strict = explained.filter((name) => name !== 'test'); // whose other flags go to vitest

/** What the script runs once everything is installed and built. */
function run(
  name: string,
  flag: string,
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const [, command = ''] = (scripts[name] ?? '').split(' -- ');
  const [program, ...args] = command.split(' ');
  expect(program).toBe('node');
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [...args, flag],
      { cwd: root, timeout: 60_000 },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

describe('an npm script with flags', () => {
  it.concurrent.each(explained)('%s explains itself', async (name) => {
    const { code, stdout, stderr } = await run(name, '--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/\n +.*--[a-z]/);
  });

  it.concurrent.each(strict)('%s refuses a flag that it does not have', async (name) => {
    const { code, stdout, stderr } = await run(name, '--no-such-flag');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('--no-such-flag');
    expect(stderr).not.toMatch(/\n\s+at |ERR_PARSE/);
    expect(stderr.trim().split('\n').length).toBeLessThanOrEqual(2);
  });
});
