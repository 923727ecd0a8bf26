// A release, made in a copy of this repository: its version, changelog, commit and tag; and what refuses one.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Changeset, nextVersion, releasedChangelog, sectionOf } from '../../tools/release/changelog.ts';
import { currentVersion } from '../../tools/release/versions.ts';
import { root } from '../docs/document.ts';
import { runCommand } from '../services/run-command.ts';

const changeset = (id: string, type: string, summary: string): Changeset => ({
  id,
  summary,
  releases: [{ name: '@dormouse/host', type }],
});

describe('the version of a release', () => {
  const released = '# Changelog\n\n## 1.2.3 (2026-01-01)\n\n- before\n';
  it.each([
    ['patch', '1.2.4'],
    ['minor', '1.3.0'],
    ['major', '2.0.0'],
  ])('after a change that is %s is %s', (type, version) => {
    expect(nextVersion('1.2.3', released, [changeset('a', 'patch', 'x'), changeset('b', type, 'y')])).toBe(version);
  });

  it('G1 is the one that the changelog calls unreleased, whatever the changes', () => {
    expect(nextVersion('1.2.3', '# Changelog\n\n## 1.2.3 (unreleased)\n', [])).toBe('1.2.3');
  });

  it('is none without a change', () => {
    expect(() => nextVersion('1.2.3', released, [])).toThrow(/nothing has changed since 1\.2\.3/);
    expect(() => nextVersion('1.2.3', released, [changeset('a', 'none', 'x')])).toThrow(/nothing has changed/);
  });

  it('G2 its section has every text once, the larger changes first, above what is older', () => {
    const changesets = [changeset('a', 'patch', 'Small.\nTwo lines.'), changeset('b', 'minor', 'Large.')];
    const written = releasedChangelog(released, { version: '1.3.0', date: '2026-02-03', changesets });
    expect(written).toBe(
      '# Changelog\n\n## 1.3.0 (2026-02-03)\n\n- Large.\n- Small.\n  Two lines.\n\n## 1.2.3 (2026-01-01)\n\n- before\n',
    );
    expect(sectionOf(written, '1.3.0')).toBe('- Large.\n- Small.\n  Two lines.');
    expect(sectionOf(written, '1.2.3')).toBe('- before');
    expect(sectionOf(written, '1.2')).toBeNull();
  });

  it('G1 the section that was unreleased keeps its texts', () => {
    const before = '# Changelog\n\n## 1.2.3 (unreleased)\n\n- kept\n\n## 1.0.0 (2025-01-01)\n\n- old\n';
    const written = releasedChangelog(before, {
      version: '1.2.3',
      date: '2026-02-03',
      changesets: [changeset('a', 'patch', 'New.')],
    });
    expect(written).toBe('# Changelog\n\n## 1.2.3 (2026-02-03)\n\n- kept\n- New.\n\n## 1.0.0 (2025-01-01)\n\n- old\n');
  });

  it('V1 is the same in every place of this repository', () => {
    expect(currentVersion(root)).toMatch(/^\d+\.\d+\.\d+$/);
  });
});

describe('a release in a copy of this repository', () => {
  let folder = '';
  const at = (path: string): string => join(folder, path);
  const git = (...args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync('git', args, { cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
    return stdout.trim();
  };
  const release = (...args: readonly string[]): { readonly code: number | null; readonly said: string } => {
    const ran = spawnSync(process.execPath, [at('tools/release/release.ts'), ...args], {
      cwd: folder,
      encoding: 'utf8',
    });
    return { code: ran.status, said: ran.stdout + ran.stderr };
  };
  const commit = (message: string): void => {
    git('add', '--all');
    git('commit', '--quiet', '--message', message);
  };
  const mark = (text: string): void =>
    writeFileSync(at('.changeset/of-a-test.md'), `---\n'@dormouse/host': minor\n---\n\n${text}\n`);
  /** Those of the corpus take minutes and have specs of their own. */
  const upgradesWith = (code: number): void => {
    const manifest = JSON.parse(readFileSync(at('package.json'), 'utf8')) as { readonly scripts: object };
    const scripts = { ...manifest.scripts, 'test:upgrades': `node -e "process.exit(${code})"` };
    writeFileSync(at('package.json'), `${JSON.stringify({ ...manifest, scripts }, null, 2)}\n`);
    commit('test: upgrades');
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'dormouse-release-'));
    const listed = await runCommand('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
      withinMs: 60_000,
      cwd: root,
    });
    for (const path of listed.split('\0').filter((each) => each !== '' && existsSync(join(root, each)))) {
      mkdirSync(dirname(at(path)), { recursive: true });
      cpSync(join(root, path), at(path));
    }
    symlinkSync(join(root, 'node_modules'), at('node_modules'));
    git('init', '--quiet', '--initial-branch', 'main');
    for (const [key, value] of [
      ['user.name', 'Test'],
      ['user.email', 'test@example.com'],
      ['commit.gpgsign', 'false'],
    ] as const)
      git('config', key, value);
    writeFileSync(at('.gitignore'), `${readFileSync(at('.gitignore'), 'utf8')}node_modules\n`);
    mark('What the test has changed.');
    commit('test: a copy');
    upgradesWith(0);
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('R3 a dry run says the version and its notes, and changes nothing', () => {
    const before = git('rev-parse', 'HEAD');
    const { code, said } = release('--dry-run');
    expect(said).toMatch(/v\d+\.\d+\.\d+, as the manifests say|v\d+\.\d+\.\d+ after/);
    expect(said).toContain('What the test has changed.');
    expect(code).toBe(0);
    expect([git('status', '--porcelain'), git('rev-parse', 'HEAD'), git('tag')]).toEqual(['', before, '']);
  });

  it('R1 data of older releases that cannot be read refuse it', () => {
    upgradesWith(1);
    const before = git('rev-parse', 'HEAD');
    const { code, said } = release('--no-pack');
    expect(said).toContain('release: npm run test:upgrades ended with 1');
    expect(code).toBe(1);
    expect([git('status', '--porcelain'), git('rev-parse', 'HEAD'), git('tag')]).toEqual(['', before, '']);
    upgradesWith(0);
  });

  it('R1 a changed tree and another branch refuse it', () => {
    writeFileSync(at('README.md'), 'changed');
    expect(release('--no-pack').said).toMatch(/the tree has changes that are not committed:\n ?M README\.md/);
    git('checkout', '--quiet', 'README.md');
    git('checkout', '--quiet', '-b', 'other');
    expect(release('--no-pack').said).toContain('this is the branch other: a release is made on main');
    git('checkout', '--quiet', 'main');
  });

  it('R2 a step that fails leaves the branch and the tree as they were', () => {
    const before = git('rev-parse', 'HEAD');
    writeFileSync(at('.git/hooks/pre-commit'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const { code, said } = release('--no-pack');
    rmSync(at('.git/hooks/pre-commit'));
    expect(said).toContain('git commit failed');
    expect(code).toBe(1);
    expect([git('status', '--porcelain'), git('rev-parse', 'HEAD'), git('tag')]).toEqual(['', before, '']);
    expect(existsSync(at('.changeset/of-a-test.md'))).toBe(true);
  });

  it('writes version and changelog, commits and tags; then the next one has another version', () => {
    const first = currentVersion(folder);
    const { code, said } = release('--no-pack');
    expect(said).toMatch(/v(\S+) is tagged/);
    expect(code).toBe(0);
    const [, version = ''] = /v(\S+) is tagged/.exec(said) ?? [];
    expect([git('tag'), git('status', '--porcelain')]).toEqual([`v${version}`, '']);
    expect(readdirSync(at('.changeset'))).toEqual(['config.json']);
    expect(readFileSync(at('CHANGELOG.md'), 'utf8')).toMatch(
      new RegExp(`^## ${version} \\(\\d{4}-\\d\\d-\\d\\d\\)$`, 'm'),
    );
    expect(release('--check', `v${version}`).code).toBe(0);
    expect(readFileSync(at('dist/release/notes.md'), 'utf8')).toContain('What the test has changed.');
    expect(release('--check', 'v9.9.9').said).toMatch(/the tag v9\.9\.9 is not of/);

    expect(release('--no-pack').said).toContain(`nothing has changed since ${version}`);
    mark('And more.');
    commit('test: more');
    expect(release('--no-pack').code).toBe(0);
    const next = currentVersion(folder);
    expect(next).not.toBe(first);
    expect(git('tag').split('\n')).toContain(`v${next}`);
    const lock = JSON.parse(readFileSync(at('package-lock.json'), 'utf8')) as {
      readonly packages: Readonly<Record<string, { readonly version: string }>>;
    };
    for (const path of ['', 'libs/host', 'apps/cli', 'test']) expect(lock.packages[path]?.version, path).toBe(next);
    expect(readFileSync(at('deploy/helm/dormouse/Chart.yaml'), 'utf8')).toContain(`appVersion: '${next}'`);
  });
});
