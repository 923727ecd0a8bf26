// Buildah and Podman on a machine that has no engine of its own: Debian's packages, a store of their own, and a base
// that is made here under the public one's name, since no registry of images is needed or asked.
//
// Invariants:
//   B1. Images and containers are in one folder, which goes with the test; nothing of an engine that is here is
//       touched.
//   B2. The base is Debian 12 with the Node of this repository: what is said of an image holds for that base.
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { aptInstall } from '../../services/apt.ts';
import { isInstalled, runCommand } from '../../services/run-command.ts';
import { root } from '../../docs/document.ts';
import { builtFolder, type Found } from '../chart-programs.ts';

export const baseName = 'docker.io/library/node:24.21.0-bookworm-slim';
const buildWithinMs = 1_800_000;
const runWithinMs = 300_000;

export interface Containers {
  readonly base: string;
  /** For programs that call Buildah or Podman by themselves: where their images are. (B1) */
  readonly environment: Readonly<Record<string, string>>;
  buildah(...args: readonly string[]): Promise<string>;
  podman(...args: readonly string[]): Promise<string>;
}

/** Null with the reason where this machine cannot have them. */
export async function containers(folder: string): Promise<Containers | { readonly reason: string }> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !(await isInstalled('apt-get')))
    return { reason: 'containers are built and run as root on Debian' };
  try {
    const wanted = ['buildah', 'podman', 'runc', 'mmdebstrap'];
    const isThere = await Promise.all(wanted.map((name) => isInstalled(name)));
    if (isThere.includes(false)) await aptInstall(wanted);
    const tree = await baseTree();
    if (!tree.available) return { reason: tree.reason };
    return await withBase(folder, tree.program);
  } catch (error) {
    return { reason: `no containers here: ${(error as Error).message}` };
  }
}

/** (B2) */
const baseTree = (): Promise<Found> =>
  builtFolder('image-base-bookworm', async (into) => {
    const packages = '--include=ca-certificates';
    const args = ['--variant=minbase', packages, '--mode=root', 'bookworm', join(into, 'base.tar')];
    await runCommand('mmdebstrap', args, { withinMs: buildWithinMs });
  });

async function withBase(folder: string, tree: string): Promise<Containers> {
  const [configuration, storage] = [join(folder, 'containers.conf'), join(folder, 'storage.conf')];
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    storage,
    `[storage]\ndriver = "overlay"\ngraphroot = "${join(folder, 'store')}"\nrunroot = "${join(folder, 'run')}"\n`,
  );
  writeFileSync(
    configuration,
    '[containers]\ndefault_ulimits = ["nofile=20000:20000", "nproc=20000:20000"]\n[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n',
  );
  const environment = { CONTAINERS_CONF: configuration, CONTAINERS_STORAGE_CONF: storage };
  const buildah = (...args: readonly string[]): Promise<string> =>
    runCommand('buildah', args, { withinMs: buildWithinMs, cwd: root, environment });
  const podman = (...args: readonly string[]): Promise<string> =>
    runCommand('podman', ['--runtime', 'runc', '--cgroup-manager', 'cgroupfs', ...args], {
      withinMs: runWithinMs,
      cwd: root,
      environment,
    });
  const context = join(folder, 'base');
  mkdirSync(context, { recursive: true });
  copyFileSync(join(tree, 'base.tar'), join(context, 'base.tar'));
  copyFileSync(realpathSync(process.execPath), join(context, 'node'));
  cpSync(await npmFolder(), join(context, 'npm'), { recursive: true, dereference: true });
  writeFileSync(
    join(context, 'Containerfile'),
    [
      'FROM scratch',
      'ADD base.tar /',
      'COPY node /usr/local/bin/node',
      'COPY npm /usr/local/lib/node_modules/npm',
      'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && node --version && npm --version',
    ].join('\n'),
  );
  await buildah(
    'build',
    '--isolation',
    'chroot',
    '--pull-never',
    '--tag',
    baseName,
    '--file',
    join(context, 'Containerfile'),
    context,
  );
  return { base: baseName, environment, buildah, podman };
}

/** The package that the command `npm` of this machine is in. */
async function npmFolder(): Promise<string> {
  const program = (await runCommand('sh', ['-c', 'realpath "$(command -v npm)"'], { withinMs: 30_000 })).trim();
  return dirname(dirname(program));
}

/** What `npm ci` needs inside a build to reach what npm reaches here: npm's settings, and whom it trusts. */
export async function npmOfThisMachine(folder: string): Promise<readonly string[]> {
  const own = join(homedir(), '.npmrc');
  const named = (await runCommand('npm', ['config', 'get', 'cafile'], { withinMs: 30_000 })).trim();
  const authorities = existsSync(named) ? named : (process.env['NODE_EXTRA_CA_CERTS'] ?? '');
  const settings = join(folder, 'npmrc');
  const isThere = existsSync(authorities);
  const lines = [existsSync(own) ? readFileSync(own, 'utf8') : '', isThere ? `cafile=${authorities}` : ''];
  writeFileSync(settings, `${lines.join('\n')}\n`, { mode: 0o600 });
  const files = [[settings, join('/', 'root', '.npmrc')], ...(isThere ? [[authorities, authorities]] : [])];
  return files.flatMap(([here = '', inside = '']) => ['--volume', `${here}:${inside}:ro`]);
}
