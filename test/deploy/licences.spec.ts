// The licences of third parties, as the release reports them: of the real lock, and of samples that must be refused.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allows, licenceProblems, packagesOf, writeLicences } from '../../tools/release/licences.ts';
import { readDocument, root } from '../docs/document.ts';

const lock = JSON.parse(readDocument('package-lock.json').text) as {
  readonly packages: Readonly<Record<string, { readonly license?: string; readonly link?: boolean }>>;
};
const sample = (license: string | undefined, more: object = {}): readonly string[] =>
  licenceProblems(packagesOf({ packages: { 'node_modules/one': { version: '1.0.0', license, ...more } } }));

describe('the licences', () => {
  it('L1 L2 of every package of the lock are allowed', () => {
    const packages = packagesOf(lock);
    expect(packages.length).toBeGreaterThan(400);
    expect(licenceProblems(packages)).toEqual([]);
  });

  it('are those that the installed packages name', () => {
    const entries = Object.entries(lock.packages).filter(
      ([path, { link }]) =>
        path.includes('node_modules/') && link !== true && existsSync(join(root, path, 'package.json')),
    );
    const other = entries.filter(([path, { license }]) => {
      const installed = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')) as {
        readonly license?: unknown;
      };
      return typeof installed.license === 'string' && installed.license !== license;
    });
    expect(other.map(([path]) => path)).toEqual([]);
    expect(entries.length).toBeGreaterThan(200);
  });

  it('L1 a package without a licence is refused', () => {
    expect(sample(undefined)).toEqual(['one 1.0.0 names no licence: look into it, then choose another package']);
    expect(sample('SEE LICENSE IN LICENSE.txt')).toHaveLength(1);
  });

  it('L2 a licence is refused for what is shipped, and another one for development, too', () => {
    expect(sample('GPL-3.0-only')).toEqual([
      'one 1.0.0 has the licence GPL-3.0-only, which is not allowed for what is shipped',
    ]);
    expect(sample('GPL-3.0-only', { dev: true })).toHaveLength(1);
    expect(sample('MPL-2.0')).toHaveLength(1);
    expect(sample('MPL-2.0', { dev: true })).toEqual([]);
  });

  it('L2 reads expressions', () => {
    const mit = ['MIT'];
    for (const met of ['MIT', '(MIT)', 'MIT OR GPL-3.0', '(GPL-3.0 OR MIT)', 'MIT AND (X OR MIT)'])
      expect(allows(met, mit)).toBe(true);
    for (const not of [
      '',
      'GPL-3.0',
      'MIT AND X',
      '(MIT',
      'MIT)',
      'MIT WITH Some-exception',
      'MIT MIT',
      'OR',
      'X OR Y AND MIT',
    ])
      expect(allows(not, mit), not).toBe(false);
  });

  it('are written for people and for programs', () => {
    const out = mkdtempSync(join(tmpdir(), 'dormouse-licences-'));
    try {
      const count = writeLicences(root, out);
      expect(JSON.parse(readFileSync(join(out, 'licences.json'), 'utf8'))).toHaveLength(count);
      expect(readFileSync(join(out, 'licences.md'), 'utf8')).toMatch(
        /## Shipped\n\n\d+ packages[^]*- \*\*MIT\*\* \(\d+\): .*zod/,
      );
    } finally {
      rmSync(out, { recursive: true, force: true });
    }
  });
});
