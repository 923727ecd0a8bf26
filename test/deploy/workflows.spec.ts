// The workflows of the repository, by rules of ours and by zizmor: what they run is pinned, and has no more rights than
// it needs.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readDocument, root } from '../docs/document.ts';
import { runCommand } from '../services/run-command.ts';
import { builtFolder, type Found } from './chart-programs.ts';

const folder = '.github/workflows';
const names = readdirSync(join(root, folder));

/** One sentence for each step that is named by what can be moved. */
function unpinned(text: string): readonly string[] {
  const used = [...text.matchAll(/^\s*(?:- )?uses: (.+)$/gm)].map(([, name = '']) => name);
  return used
    .filter((name) => !/^[\w.-]+(\/[\w.-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(name))
    .map((name) => `${name}: pin it by the hash of its commit, with the version as a comment`);
}

describe('the workflows', () => {
  it.each(names)('%s pins every action by its commit', (name) => {
    expect(unpinned(readDocument(`${folder}/${name}`).text)).toEqual([]);
  });

  it('a tag, a branch and a hash without its version are refused', () => {
    const hash = 'a'.repeat(40);
    const text = ['actions/checkout@v5', 'actions/cache@main # v4.2.4', `actions/cache@${hash}`]
      .map((used) => `      - uses: ${used}\n`)
      .join('');
    expect(unpinned(text)).toHaveLength(3);
    expect(unpinned(`      - uses: actions/cache@${hash} # v4.2.4\n`)).toEqual([]);
  });

  it('have one hash for one action', () => {
    const used = names.flatMap((name) => readDocument(`${folder}/${name}`).text.match(/\S+@[0-9a-f]{40} # \S+/g) ?? []);
    const actions = new Set(used.map((each) => each.split('@')[0]));
    expect(new Set(used).size).toBe(actions.size);
  });

  it.each(names)('%s says its rights, and begins with none that write', (name) => {
    const { permissions } = parse(readDocument(`${folder}/${name}`).text) as {
      readonly permissions: Readonly<Record<string, string>>;
    };
    // A workflow with one job may give it here.
    expect(Object.entries(permissions).filter(([what, right]) => right === 'write' && what !== 'issues')).toEqual([]);
  });

  it('build image and chart, and publish them with a base that is pinned by its digest', () => {
    const { text } = readDocument(`${folder}/release.yml`);
    for (const step of ['imagetools inspect', '--base "$BASE"', 'helm push', 'npm run test:upgrades', 'attest-sbom'])
      expect(text).toContain(step);
    expect(text).not.toMatch(/actions\/cache@/);
    const deploy = readDocument(`${folder}/deploy.yml`).text;
    for (const step of ['build.mjs --tool docker', 'npm run test:deploy']) expect(deploy).toContain(step);
  });

  const zizmor = (): Promise<Found> =>
    builtFolder('zizmor-1.32.0', async (into) => {
      await runCommand('python3', ['-m', 'venv', join(into, 'python')], { withinMs: 300_000 });
      const pip = join(into, 'python', 'bin', 'pip');
      await runCommand(pip, ['install', '--quiet', 'zizmor==1.32.0'], { withinMs: 300_000 });
    });
  const judged = (found: string, ...paths: readonly string[]): Promise<string> =>
    runCommand(join(found, 'python', 'bin', 'zizmor'), ['--offline', '--no-progress', '--color=never', ...paths], {
      withinMs: 120_000,
      cwd: root,
    });

  it('are clean by zizmor', async (context) => {
    const found = await zizmor();
    if (!found.available) return context.skip(found.reason);
    expect(await judged(found.program, folder)).toContain('No findings to report');
  });

  it('zizmor finds what is wrong with a workflow', async (context) => {
    const found = await zizmor();
    if (!found.available) return context.skip(found.reason);
    await expect(judged(found.program, 'test/deploy/samples/unsafe-workflow.yml')).rejects.toThrow(
      /template-injection/,
    );
  });
});
