import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { apt } from './apt.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dormouse-apt-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A package manager that runs the script, found before the machine's own. */
function aptThat(script: string): {
  readonly withinMs: number;
  readonly cwd: string;
  readonly environment: { PATH: string };
} {
  const file = join(folder, 'apt-get');
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return { withinMs: 10_000, cwd: folder, environment: { PATH: `${folder}:${process.env['PATH'] ?? ''}` } };
}

describe('the package manager', () => {
  it('runs once at a time, however many servers want packages', async () => {
    const options = aptThat('mkdir busy || exit 1; sleep 0.2; rmdir busy; echo done');
    const ran = await Promise.all([1, 2, 3].map(() => apt(['update'], options)));
    expect(ran).toEqual(['done\n', 'done\n', 'done\n']);
  });

  it('is asked again while somebody else has its lock', async () => {
    const options = aptThat(
      'echo x >> tries; [ $(wc -l < tries) -ge 3 ] && exit 0; echo "E: Could not get lock /var/lib/apt/lists/lock." >&2; exit 100',
    );
    await apt(['update'], options);
    expect(readFileSync(join(folder, 'tries'), 'utf8')).toBe('x\nx\nx\n');
  });

  it('says what it said when it fails for another reason, at once', async () => {
    const options = aptThat('echo x >> tries; echo "E: Unable to locate package nothing" >&2; exit 100');
    await expect(apt(['install', 'nothing'], options)).rejects.toThrow('Unable to locate package nothing');
    expect(readFileSync(join(folder, 'tries'), 'utf8')).toBe('x\n');
  });
});
