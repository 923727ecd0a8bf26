// A package registry on loopback: what npm asks for while specs install our tarballs into an empty folder. It serves
// our tarballs, and every other package as it is installed in this repository: no spec needs the internet.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
export const root = fileURLToPath(new URL('../..', import.meta.url));
export const tarballFolder = join(root, 'dist', 'packages');

interface Packed {
  readonly manifest: { readonly name: string; readonly version: string };
  readonly bytes: () => Promise<Buffer>;
}

export interface LocalRegistry {
  readonly url: string;
  /** Names that npm has asked for and that are not there. */
  readonly missing: readonly string[];
  readonly close: () => Promise<void>;
}

export async function startLocalRegistry(): Promise<LocalRegistry> {
  const folder = await mkdtemp(join(tmpdir(), 'dormouse-registry-'));
  const missing: string[] = [];
  const ours = await Promise.all((await readdir(tarballFolder)).map((file) => readPacked(join(tarballFolder, file))));
  const found = new Map<string, readonly Packed[]>();
  const find = (name: string): readonly Packed[] => {
    const own = ours.filter(({ manifest }) => manifest.name === name);
    const all = found.get(name) ?? (own.length > 0 ? own : installed(name, folder));
    found.set(name, all);
    return all;
  };
  const server = createServer((request, response) => {
    void answer(decodeURIComponent(request.url ?? '/').slice(1), request.headers.host ?? '', response);
  });
  async function answer(path: string, host: string, response: ServerResponse): Promise<void> {
    const [name = '', tarball] = path.split('/-/');
    const all = find(name);
    if (all.length === 0) {
      missing.push(name);
      return void response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not found"}');
    }
    const asked = all.find(({ manifest }) => tarball === `${manifest.version}.tgz`);
    if (asked !== undefined) return void response.end(await asked.bytes());
    const versions = all.map(({ manifest }) => {
      const dist = { tarball: `http://${host}/${name}/-/${manifest.version}.tgz` };
      return [manifest.version, { ...manifest, dist }] as const;
    });
    response.setHeader('content-type', 'application/json');
    const latest = versions.at(0)?.[0];
    response.end(JSON.stringify({ name, 'dist-tags': { latest }, versions: Object.fromEntries(versions) }));
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    missing,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Every version of a package that is installed here, the hoisted one first. */
function installed(name: string, folder: string): readonly Packed[] {
  const places = placesInLock().filter((place) => `/${place}`.endsWith(`/node_modules/${name}`));
  const byVersion = new Map<string, Packed>();
  for (const place of places.toSorted((one, other) => one.length - other.length)) {
    const from = join(root, place);
    if (!existsSync(join(from, 'package.json'))) continue; // of another platform
    const manifest = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as Packed['manifest'];
    let bytes: Promise<Buffer> | undefined;
    const pack = { manifest, bytes: () => (bytes ??= packInstalled(from, folder)) };
    if (!byVersion.has(manifest.version)) byVersion.set(manifest.version, pack);
  }
  return [...byVersion.values()];
}

function placesInLock(): readonly string[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { readonly packages: object };
  return Object.keys(lock.packages);
}

async function packInstalled(from: string, folder: string): Promise<Buffer> {
  const own = await mkdtemp(join(folder, 'packed-'));
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', own, from]);
  const [file = ''] = await readdir(own);
  return readFile(join(own, file));
}

async function readPacked(file: string): Promise<Packed> {
  const { stdout } = await run('tar', ['-xzOf', file, 'package/package.json']);
  return { manifest: JSON.parse(stdout) as Packed['manifest'], bytes: () => readFile(file) };
}
