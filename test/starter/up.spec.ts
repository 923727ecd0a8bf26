// tools/up.mjs in a project of its own: an empty lock, a compiler that records its runs, a command that records its
// signals.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

// npm under this Node too, and without the settings of the npm that runs these specs.
const outerEnv = Object.entries(process.env).filter(([key]) => !key.startsWith('npm_'));
const env = { ...Object.fromEntries(outerEnv), PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` };
const starter = fileURLToPath(new URL('../../tools/up.mjs', import.meta.url));
let project: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'dormouse-up-'));
  for (const folder of ['tools', 'libs/a/src', 'apps']) mkdirSync(join(project, folder), { recursive: true });
  cpSync(starter, join(project, 'tools/up.mjs'));
  write(
    'package.json',
    JSON.stringify({
      name: 'a',
      version: '1.0.0',
      scripts: { start: 'exec node tools/up.mjs start -- node listener.mjs' },
    }),
  );
  writeLock('1.0.0');
  write('libs/a/src/a.ts', 'export {};');
  write('listener.mjs', listener);
});

afterEach(() => rmSync(project, { recursive: true, force: true }));

describe('the first run', () => {
  it('installs, and the next one does not', () => {
    expect(up('start', '--', 'node', '-e', '0').stderr).toContain('first run: installing');
    expect(up('start', '--', 'node', '-e', '0').stderr).toBe('');
  });

  it('installs again when the lock changed', () => {
    up('start', '--', 'node', '-e', '0');
    write('package.json', JSON.stringify({ name: 'a', version: '1.0.1' }));
    writeLock('1.0.1');
    expect(up('start', '--', 'node', '-e', '0').stderr).toContain('package-lock.json changed: installing');
  });

  it('starts nothing when the install fails', () => {
    write('package.json', JSON.stringify({ name: 'a', version: '1.0.0', dependencies: { b: '1.0.0' } })); // the lock lacks it
    const ran = up('start', '--', 'node', '-e', 'console.log("started")');
    expect(ran.status).not.toBe(0);
    expect(ran.stdout).toBe('');
    expect(ran.stderr).toContain('Nothing was started');
  });
});

describe('the build', () => {
  beforeEach(() => {
    up('start', '--', 'node', '-e', '0');
    compilerThat(`console.error('compiled')`);
  });

  it('runs when a source changed, and only then', () => {
    const build = (): string => up('start', '--build', '--', 'node', '-e', '0').stderr;
    expect(build()).toContain('compiled');
    expect(build()).toBe('');
    utimesSync(join(project, 'libs/a/src/a.ts'), 1, 1);
    expect(build()).toContain('compiled');
    write('libs/a/src/b.ts', 'export {};');
    expect(build()).toContain('compiled');
    write('libs/a/src/b.spec.ts', 'export {};');
    expect(build()).toBe('');
  });

  it('starts nothing when it fails', () => {
    compilerThat('process.exit(2)');
    const ran = up('start', '--build', '--', 'node', '-e', 'console.log("started")');
    expect(ran).toMatchObject({ status: 2, stdout: '' });
  });
});

describe('the command', () => {
  beforeEach(() => up('start', '--', 'node', '-e', '0'));

  it('gets its flags, and gives its exit code', () => {
    const ran = up('start', '--', 'node', '-e', 'console.log(process.argv[1]); process.exit(7)', '--', '--port=1');
    expect(ran).toMatchObject({ status: 7, stdout: '--port=1\n' });
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('hears the %s that npm got, once', async (signal) => {
    const npm = await startListener('npm', ['start']);
    npm.kill(signal);
    expect(await exitCodeOf(npm)).toBe(0);
    expect(heard()).toEqual([signal]);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('hears the %s that its whole group got', async (signal) => {
    const npm = await startListener('npm', ['start']);
    process.kill(-npm.pid!, signal);
    expect(await exitCodeOf(npm)).toBe(0);
    expect(heard()).toContain(signal);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'of the runtime stops in peace for the %s that its whole group got',
    async (signal) => {
      write('listener.mjs', stopping);
      const npm = await startListener('npm', ['start']);
      process.kill(-npm.pid!, signal);
      expect(await exitCodeOf(npm)).toBe(0);
      expect(heard()).toEqual(['stopped']);
    },
  );

  it("hears a terminal's Ctrl-C once", async (context) => {
    if (spawnSync('script', ['--version']).status !== 0)
      context.skip('no script(1) on this machine to make a terminal with');
    // exec: a shell that waits between the two would die of the Ctrl-C itself (dash does, bash does not).
    const terminal = await startListener('script', ['-qec', 'exec npm start', '/dev/null']);
    terminal.stdin!.write('\x03');
    expect(await exitCodeOf(terminal)).toBe(0);
    expect(heard()).toEqual(['SIGINT']);
  });

  it('does not outlive npm', async () => {
    const npm = await startListener('npm', ['start']);
    npm.kill('SIGKILL');
    await expect.poll(heard).toEqual(['SIGTERM']);
  });
});

const listener = `
  import { appendFileSync } from 'node:fs';
  const note = (line) => appendFileSync('heard', line + '\\n');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => { note(signal); setTimeout(() => process.exit(0), 400); });
  }
  setTimeout(() => process.exit(9), 15_000);
  note('ready');
`;

/** Stops as the runtime does. */
const stopping = `
  import { appendFileSync } from 'node:fs';
  import { stopSignal } from '${new URL('../../libs/host/src/lifecycle/stop-signal.ts', import.meta.url).href}';
  const note = (line) => appendFileSync('heard', line + '\\n');
  const stopped = stopSignal();
  setTimeout(() => process.exit(9), 15_000);
  note('ready');
  await stopped;
  setTimeout(() => { note('stopped'); process.exit(0); }, 400);
`;

function up(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, ['tools/up.mjs', ...args], { cwd: project, env, encoding: 'utf8' });
}

async function startListener(command: string, args: string[]): Promise<ChildProcess> {
  const started = spawn(command, args, { cwd: project, env, detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  await expect.poll(() => existsSync(join(project, 'heard'))).toBe(true);
  await sleep(100);
  return started;
}

function exitCodeOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('exit', resolve));
}

function heard(): string[] {
  return readFileSync(join(project, 'heard'), 'utf8').split('\n').slice(1, -1);
}

function compilerThat(does: string): void {
  mkdirSync(join(project, 'node_modules/typescript/bin'), { recursive: true });
  write('node_modules/typescript/bin/tsc', does);
}

function writeLock(version: string): void {
  write(
    'package-lock.json',
    JSON.stringify({ name: 'a', version, lockfileVersion: 3, packages: { '': { name: 'a', version } } }),
  );
}

function write(path: string, text: string): void {
  writeFileSync(join(project, path), text);
}
