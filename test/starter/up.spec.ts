// tools/up.mjs in a project of its own: an empty lock, a build that prints that it ran, a command that records its
// signals.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
    expect(up('start', '--', 'node', '-e', '0').stderr).toMatch(
      /^dormouse start: first run: installing 0 packages: about a minute\n[^]*dormouse start: starting\n$/,
    );
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
    buildThat(`console.error('built', ...process.argv.slice(2))`);
  });

  it('comes before the command, and is not done without being asked for', () => {
    const ran = up('start', '--build', '--', 'node', '-e', 'console.error("started")');
    expect(ran).toMatchObject({ status: 0, stdout: '', stderr: 'built\nstarted\n' });
    expect(up('start', '--', 'node', '-e', '0').stderr).toBe('');
  });

  it('has the console built by Nx, and not again while no source of it changed', () => {
    for (const folder of ['apps/console/dist', 'libs/client/src', 'node_modules/nx/dist/bin'])
      mkdirSync(join(project, folder), { recursive: true });
    write('apps/console/main.ts', 'one');
    write(
      'node_modules/nx/dist/bin/nx.js',
      `console.error('a summary'); console.log('another'); const { writeFileSync } = require('fs');
       writeFileSync('ran', process.argv.slice(2, 4).join(' ')); writeFileSync('apps/console/dist/index.html', '');`,
    );
    const built = (): boolean => {
      rmSync(join(project, 'ran'), { force: true });
      const { stderr } = up('start', '--build', '--', 'node', '-e', '0');
      expect(stderr).not.toMatch(/summary|another/);
      return existsSync(join(project, 'ran')) && readFileSync(join(project, 'ran'), 'utf8') === 'run dormouse:console';
    };
    expect([built(), built()]).toEqual([true, false]);
    write('apps/console/main.ts', 'another');
    expect([built(), built()]).toEqual([true, false]);
    rmSync(join(project, 'apps/console/dist/index.html'));
    expect(built()).toBe(true);
  });

  it('starts nothing when the console’s fails', () => {
    for (const folder of ['apps/console', 'libs/client/src', 'node_modules/nx/dist/bin'])
      mkdirSync(join(project, folder), { recursive: true });
    write('apps/console/main.ts', '');
    write('node_modules/nx/dist/bin/nx.js', 'console.log("why"); process.exitCode = 3');
    const ran = up('start', '--build', '--', 'node', '-e', 'console.log("started")');
    expect(ran).toMatchObject({ status: 3, stdout: '', stderr: expect.stringContaining('why\n') });
  });

  it('says what it does when it takes longer, and when it is done', () => {
    buildThat('setTimeout(() => {}, 2_500)');
    const { stderr } = up('start', '--build', '--', 'node', '-e', 'console.error("started")');
    expect(stderr).toMatch(/^dormouse start: building: .*\ndormouse start: starting\nstarted\n$/);
  });

  it.each(['', '999999999'])('goes on beside what a process has left that ended while it built: "%s"', (left) => {
    buildThat('');
    mkdirSync(join(project, '.cache'), { recursive: true });
    write('.cache/up.pid', left);
    const ran = up('start', '--build', '--', 'node', '-e', 'console.error("started")');
    expect(ran).toMatchObject({ status: 0, stderr: expect.stringMatching(/waiting for it\n[^]*started\n$/) });
    expect(existsSync(join(project, '.cache/up.pid'))).toBe(false);
  });

  it('starts nothing when it fails', () => {
    buildThat('process.exit(2)');
    const ran = up('start', '--build', '--', 'node', '-e', 'console.log("started")');
    expect(ran).toMatchObject({ status: 2, stdout: '' });
  });
});

describe.skipIf(process.platform === 'win32')('the Node of the command', () => {
  const bundled = `node_modules/node-${process.platform}-${process.arch}/bin/node`;
  const nodeOf = (npmNode?: string): string =>
    spawnSync(process.execPath, ['tools/up.mjs', 'start', '--', 'node', '-p', 'process.execPath'], {
      cwd: project,
      env: { ...env, ...(npmNode === undefined ? {} : { npm_node_execpath: join(project, npmNode) }) },
      encoding: 'utf8',
    }).stdout.trim();

  beforeEach(() => up('start', '--', 'node', '-e', '0'));

  it('is the one that runs npm, when that is new enough', () => {
    program('own/node', 'echo v24.9.0');
    expect(nodeOf('own/node')).toBe('v24.9.0');
  });

  it('is not the one that runs npm, when that is too old', () => {
    program('own/node', 'echo v22.21.0');
    expect(nodeOf('own/node')).toBe(process.execPath);
  });

  it('is not the bundled one, where the other is new enough', () => {
    program(bundled, 'echo v24.21.0');
    expect(nodeOf()).toBe(process.execPath);
  });

  it('is not found in node_modules/.bin after an install, unless it is the bundled one', () => {
    program('node_modules/.bin/node', 'exit 127');
    write('package.json', JSON.stringify({ name: 'a', version: '1.0.1' }));
    writeLock('1.0.1');
    expect(nodeOf()).toBe(process.execPath);
    expect(existsSync(join(project, 'node_modules/.bin/node'))).toBe(false);
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

function program(path: string, script: string): void {
  mkdirSync(dirname(join(project, path)), { recursive: true });
  writeFileSync(join(project, path), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

function buildThat(does: string): void {
  write('tools/bundle.mjs', does);
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
