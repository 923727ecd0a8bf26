// A program of a published Go module, built with the dependencies that the module itself has pinned and summed.
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isInstalled, runCommand } from './run-command.ts';

/** Minutes on an idle machine; on a busy one the compiler gets a part of it. */
const buildWithinMs = 3_600_000;

interface GoProgram {
  readonly module: string;
  readonly version: string;
  /** Its package, relative to the module. */
  readonly command: string;
  /** The folder that gets the program and nothing else that is needed later. */
  readonly into: string;
  /** Changes the copy of the module that is built. */
  readonly prepare?: (source: string) => void;
}

/**
 * Takes minutes. The program has the name of its package.
 *
 * @throws Error where there is no Go, a module cannot be had, or the build fails.
 */
export async function buildGoProgram({ module, version, command, into, prepare }: GoProgram): Promise<void> {
  if (!(await isInstalled('go'))) throw new Error('Go is not installed');
  writeFileSync(join(into, 'go.mod'), 'module fetch\n\ngo 1.23\n');
  const printed = await runCommand('go', ['mod', 'download', '-json', `${module}@${version}`], {
    withinMs: 600_000,
    cwd: into,
  });
  const { Dir: folder } = JSON.parse(printed) as { readonly Dir: string };
  const source = join(into, 'source');
  cpSync(folder, source, { recursive: true });
  await runCommand('chmod', ['-R', 'u+w', source], { withinMs: 60_000 });
  prepare?.(source);
  await runCommand('go', ['build', '-trimpath', '-o', `${into}/`, command], { withinMs: buildWithinMs, cwd: source });
  rmSync(source, { recursive: true, force: true });
}
