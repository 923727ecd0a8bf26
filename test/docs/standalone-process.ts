// A standalone process in a directory of its own, on a free port, as `npm start` starts it. Needs a build.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from './document.ts';

export interface Standalone {
  /** Where a person would stand: `.dormouse` is in it. */
  readonly folder: string;
  readonly url: string;
  /** As Ctrl-C does; resolves with the exit code. */
  stop(): Promise<number | null>;
}

const startTimeoutMs = 20_000;

export async function startStandalone(): Promise<Standalone> {
  const main = join(root, 'apps/standalone/dist/main.js');
  if (!existsSync(main)) throw new Error('apps/standalone is not built: run `npm run build` first');
  const folder = mkdtempSync(join(tmpdir(), 'dormouse-docs-'));
  const child = spawn(process.execPath, [main, '--port', '0', '--data', join(folder, '.dormouse')], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const ready = new Promise<string>((resolve) => {
    const listen = (chunk: Buffer): void => {
      said += chunk.toString();
      const url = /^ready (\S+)$/m.exec(said)?.[1];
      if (url !== undefined) resolve(url);
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
  });
  const stop = async (): Promise<number | null> => {
    child.kill('SIGINT');
    const code = await exited;
    rmSync(folder, { recursive: true, force: true });
    return code;
  };
  const waiting = new AbortController();
  const late = sleep(startTimeoutMs, null, { signal: waiting.signal }).catch(() => null);
  const url = await Promise.race([ready, late, exited.then(() => null)]);
  waiting.abort();
  if (url !== null) return { folder, url, stop };
  await stop();
  throw new Error(`the standalone process did not become ready; it said:\n${said}`);
}
