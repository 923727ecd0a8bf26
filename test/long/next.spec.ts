// The handler in a real Next, built and started as its users do: the route of docs/guides/write-a-tool-server.md, with
// the SDK from its tarball. Next is installed once into the cache, for this spec alone: 250 MB.
import { cpSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Callback, parseCallback, parseToolset } from '@dormouse/protocol';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { root, tarballFolder } from '../packages/local-registry.ts';
import { freePort } from '../services/free-ports.ts';
import { npmPackages } from '../services/npm-packages.ts';
import { runCommand } from '../services/run-command.ts';
import { type ServerProcess, startServer } from '../services/server-process.ts';
import { serviceCache } from '../services/service-cache.ts';

const version = '16.4.6';
const bearer = 'a shared secret';
const settings = { NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production', NODE_OPTIONS: '' };
const buildWithinMs = 500_000;

const files = {
  'package.json': JSON.stringify({ name: 'shop', private: true }),
  'app/layout.js': 'export default ({ children }) => <html><body>{children}</body></html>;',
  'app/page.js': 'export default () => <p>the shop</p>;',
  'app/tools/[...path]/route.js': `
import { createToolServer, defineTool, toFetchHandler } from '@dormouse/tool-server';
import { z } from 'zod';

const echo = defineTool(
  { name: 'echo', description: 'Says it again.', input: z.strictObject({ text: z.string() }) },
  ({ text }) => text,
);
const handler = toFetchHandler(createToolServer({ name: 'shop', tools: [echo], auth: { bearer: '${bearer}' } }), {
  basePath: '/tools',
});
export { handler as GET, handler as POST };
`,
};

let missing: string | null = null;
let folder: string;
let server: ServerProcess;
let url: string;

beforeAll(async () => {
  await runCommand(process.execPath, [join(root, 'tools', 'pack', 'pack.mjs')], { cwd: root, withinMs: 300_000 });
  const manifest = await readFile(join(root, 'dist', 'unpacked', 'tool-server', 'package.json'), 'utf8');
  const { dependencies, peerDependencies } = JSON.parse(manifest) as Record<string, Record<string, string>>;
  const wanted = Object.entries({ ...dependencies, ...peerDependencies }).map(([name, range]) => `${name}@${range}`);
  const packages = [`next@${version}`, 'react@19.3.1', 'react-dom@19.3.1', ...wanted];
  const installed = await npmPackages(serviceCache, `next-${version}`, packages, console.info).catch(
    (error: unknown) => {
      missing = `no Next here: ${(error as Error).message.split('\n', 1)[0]}`;
      return '';
    },
  );
  if (missing !== null) return;
  folder = await mkdtemp(join(tmpdir(), 'dormouse-next-'));
  cpSync(join(installed, 'node_modules'), join(folder, 'node_modules'), { recursive: true, verbatimSymlinks: true });
  const sdk = join(folder, 'node_modules', '@dormouse', 'tool-server');
  await mkdir(sdk, { recursive: true });
  const tarball = (await readdir(tarballFolder)).find((file) => file.startsWith('dormouse-tool-server-')) ?? '';
  await runCommand('tar', ['-xzf', join(tarballFolder, tarball), '--strip-components=1', '-C', sdk], {
    withinMs: 60_000,
  });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const next = join(folder, 'node_modules', 'next', 'dist', 'bin', 'next');
  const port = await freePort();
  await runCommand(process.execPath, [next, 'build'], { cwd: folder, withinMs: buildWithinMs, environment: settings });
  server = await startServer({
    command: process.execPath,
    args: [next, 'start', folder, '--hostname', '127.0.0.1', '--port', String(port)],
    output: join(folder, 'next.out'),
    port,
    withinMs: 120_000,
    environment: settings,
  });
  url = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  await server?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});
beforeEach((context) => {
  if (missing !== null) context.skip(missing);
});

it('T1 T2 T8 T38 in Next a tool is found, refused without the credential, called, and sends its result', async () => {
  expect(await (await fetch(url)).text()).toContain('the shop');
  const manifest = parseToolset(await (await fetch(`${url}/tools/.well-known/rap-toolset`)).json());
  if (!manifest.ok) throw new Error(JSON.stringify(manifest.problems));
  expect(new URL(manifest.toolset.endpoint).pathname).toBe('/tools/invoke');
  const callbacks = await takeCallback();
  const given = {
    operation: 'echo',
    arguments: { text: 'hé' },
    id: 'call_1',
    group_id: 't',
    callback_url: callbacks.url,
  };
  const call = (headers: Record<string, string>): Promise<Response> =>
    fetch(`${url}/tools/invoke`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(given),
    });
  try {
    expect((await call({})).status).toBe(401);
    expect((await call({ authorization: `Bearer ${bearer}` })).status).toBe(200);
    expect(await callbacks.next).toMatchObject({ type: 'tool_result', id: 'call_1', text: 'hé' });
    expect((await fetch(`${url}/tools/nowhere`)).status).toBe(404);
  } finally {
    callbacks.server.closeAllConnections();
    callbacks.server.close();
  }
});

async function takeCallback(): Promise<{
  readonly url: string;
  readonly next: Promise<Callback>;
  readonly server: Server;
}> {
  const { promise: next, resolve } = Promise.withResolvers<Callback>();
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      response.end();
      const parsed = parseCallback(JSON.parse(text));
      if (parsed.ok) resolve(parsed.callback);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, next, server };
}
