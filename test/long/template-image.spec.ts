// The Dockerfile that `dormouse tools new` writes, built and run: by buildah without a daemon, on a base that is made
// here from Debian's packages, this Node and its npm, because no registry of images is asked. What it proves: the
// Dockerfile builds, and its image serves as its user. What it does not: that the public `node:24-slim` is like this
// base.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { tmpdir } from 'node:os';
import { realpathSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type EmptyFolder, emptyFolder } from '../packages/empty-folder.ts';
import { type LocalRegistry, root, startLocalRegistry } from '../packages/local-registry.ts';
import { builtOnce } from '../services/built-once.ts';
import { freePort } from '../services/free-ports.ts';
import { isInstalled, runCommand } from '../services/run-command.ts';
import { serviceCache } from '../services/service-cache.ts';

const base = 'docker.io/library/node:24-slim';
const missing: string[] = [];
let registry: LocalRegistry;
let folder: EmptyFolder;
let storage: string;

/** One command of buildah, in a storage of its own. */
const buildah = (args: readonly string[], cwd = storage): Promise<string> =>
  runCommand('buildah', ['--root', join(storage, 'root'), '--runroot', join(storage, 'run'), ...args], {
    cwd,
    withinMs: 600_000,
    environment: { BUILDAH_ISOLATION: 'chroot', STORAGE_DRIVER: 'vfs' },
  });

beforeAll(async () => {
  for (const command of ['buildah', 'mmdebstrap']) if (!(await isInstalled(command))) missing.push(command);
  if (process.getuid?.() !== 0) missing.push('root');
  if (missing.length > 0) return;
  await runCommand(process.execPath, [join(root, 'tools', 'pack', 'pack.mjs')], { cwd: root, withinMs: 300_000 });
  storage = await mkdtemp(join(tmpdir(), 'dormouse-images-'));
  registry = await startLocalRegistry();
  folder = await emptyFolder(registry.url);
  await makeBase();
});
afterAll(async () => {
  await folder?.remove();
  await registry?.close();
  if (storage !== undefined) await rm(storage, { recursive: true, force: true });
});
beforeEach((context) => {
  if (missing.length > 0) context.skip(`no image can be built here without ${missing.join(', ')}`);
});

/** Under the public name of the base, so that the Dockerfile stays as it is. */
async function makeBase(): Promise<void> {
  const made = await builtOnce(serviceCache, 'debian-bookworm-minbase', console.info, async (into) => {
    const packages = '--include=ca-certificates';
    const tar = join(into, 'base.tar');
    await runCommand('mmdebstrap', ['--variant=minbase', packages, 'bookworm', tar], { cwd: into, withinMs: 900_000 });
  });
  const npm = dirname(
    dirname(realpathSync((await runCommand('sh', ['-c', 'command -v npm'], { withinMs: 5_000 })).trim())),
  );
  const container = (await buildah(['from', 'scratch'])).trim();
  await buildah(['add', container, join(made, 'base.tar'), '/']);
  await buildah(['copy', container, process.execPath, '/usr/local/bin/node']);
  await buildah(['copy', container, npm, '/usr/local/lib/node_modules/npm']);
  const user = 'groupadd -g 1000 node && useradd -u 1000 -g node -m node';
  const link = 'ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm';
  await buildah(['run', container, '--', 'sh', '-c', `${link} && ${user}`]);
  await buildah(['config', '--env', `npm_config_registry=${registry.url}`, container]);
  await buildah(['commit', container, base]);
  await buildah(['rm', container]);
}

it('builds, and its image serves the tools as its own user, with the credential that it needs', async () => {
  const cli = join(root, 'apps', 'cli', 'dist', 'main.js');
  expect(await folder.run(process.execPath, [cli, 'tools', 'new', 'stocks'])).toMatchObject({ code: 0 });
  const context = join(folder.path, 'stocks');
  await buildah(['bud', '--pull-never', '--network', 'host', '-t', 'stocks', '.'], context);
  const container = (await buildah(['from', '--pull-never', 'localhost/stocks'])).trim();
  const port = await freePort();
  const settings = ['--env', `PORT=${port}`, '--env', 'BEARER=a shared secret'];
  const server = spawn(
    'buildah',
    [
      ...['--root', join(storage, 'root'), '--runroot', join(storage, 'run')],
      ...[
        'run',
        '--isolation',
        'chroot',
        '--network',
        'host',
        ...settings,
        container,
        '--',
        'node',
        'dist/src/main.js',
      ],
    ],
    { env: { ...process.env, STORAGE_DRIVER: 'vfs' }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const ended = new Promise((resolve) => server.once('close', resolve));
  let printed = '';
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (chunk: Buffer) => (printed += String(chunk)));
  try {
    await expect.poll(() => printed).toMatch(/ready http:/);
    const url = `http://127.0.0.1:${port}`;
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const manifest = await (await fetch(`${url}/.well-known/rap-toolset`)).json();
    expect(JSON.stringify(manifest)).toContain('"quote"');
    expect((await fetch(`${url}/invoke`, { method: 'POST', body: '{}' })).status).toBe(401);
    const who = await buildah(['run', container, '--', 'id', '-un']);
    expect(who.trim()).toBe('node');
  } finally {
    server.kill('SIGTERM');
    await ended;
  }
});
