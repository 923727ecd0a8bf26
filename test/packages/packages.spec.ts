// What `npm run pack` makes, as strangers use it: installed into an empty folder, checked by the tools that judge
// packages, compiled by a strict consumer, and run on every Node of this machine.
import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanUp, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { freePort } from '../services/free-ports.ts';
import { type EmptyFolder, emptyFolder, nodesOfThisMachine } from './empty-folder.ts';
import { type LocalRegistry, root, startLocalRegistry, tarballFolder } from './local-registry.ts';

const run = promisify(execFile);
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const nodes = nodesOfThisMachine();

let registry: LocalRegistry;
let folder: EmptyFolder;
let at: Standalone;
let tarballs: readonly string[];

beforeAll(async () => {
  await run(process.execPath, [join(root, 'tools', 'pack', 'pack.mjs')]);
  tarballs = (await readdir(tarballFolder)).filter((file) => file.endsWith('.tgz'));
  registry = await startLocalRegistry();
  folder = await emptyFolder(registry.url);
  at = await startStandalone();
  await writeFile(join(folder.path, 'package.json'), '{"type": "module", "private": true}');
  await writeFile(join(folder.path, 'asker.mjs'), asker);
  const installed = await folder.run('npm', ['install', ...tarballs.map((file) => join(tarballFolder, file))]);
  expect(installed, installed.stderr).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await folder.remove();
  await registry.close();
  await cleanUp();
});

describe('the tarballs', () => {
  it('are three, and need nothing that is not there', () => {
    expect(tarballs.map((file) => file.replace(/-\d.*$/, '')).toSorted()).toEqual([
      'dormouse-cli',
      'dormouse-client',
      'dormouse-tool-server',
    ]);
    expect(registry.missing).toEqual([]);
  });

  it.each(['tool-server', 'client', 'cli'])('%s is clean for publint', async (name) => {
    const pkgDir = join(root, 'dist', 'unpacked', name);
    const { messages, pkg } = await publint({ pkgDir, strict: true });
    const said = messages.map((message) => formatMessage(message, pkg, { color: false }) ?? '');
    // The test that `dormouse tools new` writes is for its users.
    expect(said.filter((each) => !each.includes('(/template/test/tools.test.ts)'))).toEqual([]);
  });

  it.each(['tool-server', 'client'])('%s has types that are right for every resolution of ESM', async (name) => {
    const file = tarballs.find((each) => each.startsWith(`dormouse-${name}-`)) ?? '';
    const found = await checkPackage(createPackageFromTarballData(await readFile(join(tarballFolder, file))));
    if (found.types === false) throw new Error('no types');
    // ESM only: what the old resolution and `require` find is not promised.
    const promised = found.problems.filter((problem) => {
      const resolution = 'resolutionKind' in problem ? problem.resolutionKind : '';
      return resolution !== 'node10' && problem.kind !== 'CJSResolvesToESM';
    });
    expect(promised).toEqual([]);
  });

  it('the command line tool is one package, with the licenses of what is in it', async () => {
    const packed = join(folder.path, 'node_modules', '@dormouse', 'cli');
    const { dependencies } = JSON.parse(await readFile(join(packed, 'package.json'), 'utf8')) as Record<string, object>;
    expect(dependencies).toEqual({});
    const licenses = await readFile(join(packed, 'THIRD-PARTY-LICENSES'), 'utf8');
    for (const name of ['commander', '@clack/prompts', 'openapi-fetch']) expect(licenses).toMatch(`${name} `);
  });
});

const consumer = `
import { createClient, isEvent } from '@dormouse/client';
import { useThread } from '@dormouse/client/react';
import { createToolServer, defineTool, serve, toFetchHandler, type Tool, type ToolContext } from '@dormouse/tool-server';
import { startTestRuntime } from '@dormouse/tool-server/testing';
import { z } from 'zod';

const greet: Tool = defineTool(
  { name: 'greet', description: 'Greets.', input: z.strictObject({ name: z.string() }) },
  ({ name }, context: ToolContext) => \`Hello, \${name}, in \${context.threadId satisfies string}!\`,
);
// @ts-expect-error -- the input has no such member
defineTool({ name: 'x', description: 'x', input: z.strictObject({ a: z.string() }) }, ({ nothing }) => nothing);
export const handler: (request: Request) => Promise<Response> = toFetchHandler(createToolServer({ name: 'a', tools: [greet] }));
export const client = createClient({ baseUrl: 'http://127.0.0.1:7420', key: 'k' });
for await (const frame of client.follow('thr_1', { after: 0 }))
  if (frame.frame === 'event' && isEvent(frame.event, 'title_set')) console.log(frame.event.title satisfies string);
export const said = (id: string): readonly string[] => useThread({ client, threadId: id }).messages.map(({ text }) => text);
void [serve, startTestRuntime];
`;

describe('a strict consumer', () => {
  it.each([
    ['NodeNext', 'NodeNext'],
    ['ESNext', 'Bundler'],
  ])('compiles with module %s and resolution %s, declarations included', async (module, moduleResolution) => {
    await writeFile(join(folder.path, 'consumer.ts'), consumer);
    const compilerOptions = {
      ...{ target: 'ES2022', lib: ['ES2023', 'DOM', 'DOM.AsyncIterable'], types: ['node'], noEmit: true },
      ...{ module, moduleResolution, strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
      ...{ verbatimModuleSyntax: true, isolatedModules: true, skipLibCheck: false },
    };
    const project = join(folder.path, `tsconfig.${moduleResolution}.json`);
    await writeFile(project, JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
    expect(await folder.run(process.execPath, [compiler, '-p', project])).toMatchObject({ code: 0, stdout: '' });
  });
});

const toolServer = `
import { defineTool, serve } from '@dormouse/tool-server';
import { z } from 'zod';
const shout = defineTool(
  { name: 'shout', description: 'Says it loudly.', input: z.strictObject({ text: z.string() }) },
  ({ text }) => text.toUpperCase(),
);
const server = await serve({ name: 'shouter', tools: [shout], ...(process.argv[2] ? { dataDir: process.argv[2] } : {}) });
console.log('ready ' + server.url + ' on ' + process.version);
`;

const asker = `
import { ask, createClient } from '@dormouse/client';
const [, , baseUrl, key, agent] = process.argv;
const client = createClient({ baseUrl, key });
const thread = await ask(client.api.POST('/v1/threads', { body: { agent, message: { text: 'go' } } }));
for await (const frame of client.follow(thread.id, { after: 0 }))
  if (frame.frame === 'event' && frame.event.type === 'tool_call_settled') {
    console.log(frame.event.outcome, frame.event.content[0].text);
    break;
  }
`;

describe.each(nodes)('on %s', (node) => {
  const name = `shouter-${nodes.indexOf(node)}`;

  it('a tool server is registered by the command line tool, and called by an agent for the client', async () => {
    await writeFile(join(folder.path, 'server.mjs'), toolServer);
    const server = folder.start(node, ['server.mjs'], { node });
    const [, url = '', version] = await server.shows(/ready (\S+) on (\S+)/);
    expect(version).toMatch(/^v\d+/);
    const env = { DORMOUSE_URL: at.url, DORMOUSE_KEY: at.key };
    const npx = (...args: readonly string[]) => folder.run('npx', ['--no-install', 'dormouse', ...args], { env, node });
    expect(await npx('--version')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
    const added = await npx('tools', 'add', name, url);
    expect(added, added.stderr).toMatchObject({ code: 0 });
    const script = [[{ tool_call: { name: 'shout', arguments: { text: 'hello' } } }], [{ text: 'done' }]];
    const agent = { name, model: { provider: 'scripted', parameters: { script } }, tool_servers: [name] };
    await writeFile(join(folder.path, 'agent.json'), JSON.stringify(agent));
    expect(await npx('agents', 'create', 'agent.json')).toMatchObject({ code: 0 });
    const asked = await folder.run(node, ['asker.mjs', at.url, at.key, name], { node });
    expect(asked, asked.stderr).toMatchObject({ code: 0, stdout: 'result HELLO\n' });
    expect(await npx('threads', 'list')).toMatchObject({ code: 0, stdout: expect.stringContaining('thr_') });
    await server.stop();
  });

  it('a data directory works, or a sentence says what it needs', async () => {
    const server = folder.start(node, ['server.mjs', `./data-${name}`], { node });
    const [found] = await server.shows(/ready \S+|a data directory needs Node [\d.]+ or newer \(node:sqlite\)/);
    const [major = 0, minor = 0] =
      /v(\d+)\.(\d+)/
        .exec((await folder.run(node, ['--version'])).stdout)
        ?.slice(1)
        .map(Number) ?? [];
    expect(found.startsWith('ready')).toBe(major > 22 || (major === 22 && minor >= 16));
    await server.stop();
  });
});

describe('dormouse tools new stocks', () => {
  it('makes a tool server that installs, is compiled, tests itself, and is called by an agent', async () => {
    const env = { DORMOUSE_URL: at.url, DORMOUSE_KEY: at.key };
    const npx = (...args: readonly string[]) => folder.run('npx', ['--no-install', 'dormouse', ...args], { env });
    const made = await npx('tools', 'new', 'stocks');
    expect(made, made.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('npm install') });
    expect(made.stdout).toMatch(/in the clone of Dormouse[^]*tools add stocks http:\/\/127\.0\.0\.1:7431/);
    const [, tarball = ''] = /npm install CLONE\/dist\/packages\/(\S+)/.exec(made.stdout) ?? [];
    expect(tarballs).toContain(tarball);
    const sdk = join(tarballFolder, tarball);
    const packed = await npx('tools', 'new', 'packed', '--sdk', sdk);
    expect(packed.stdout).not.toMatch(/not published|CLONE/);
    expect(await readFile(join(folder.path, 'packed', 'package.json'), 'utf8')).toContain(`"file:${sdk}"`);
    expect((await readdir(join(folder.path, 'stocks'))).toSorted()).toEqual([
      ...['.dockerignore', '.gitignore', 'Dockerfile', 'README.md', 'package.json', 'src', 'test', 'tsconfig.json'],
    ]);
    expect(await npx('tools', 'new', 'stocks')).toMatchObject({ code: 1, stderr: expect.stringMatching(/already/) });
    expect(await npx('tools', 'new', 'No Name')).toMatchObject({ code: 2 });

    const npm = (...args: readonly string[]) => folder.run('npm', args, { cwd: 'stocks' });
    const installed = await npm('install');
    expect(installed, installed.stderr).toMatchObject({ code: 0 });
    const tested = await npm('test');
    expect(tested, tested.stdout + tested.stderr).toMatchObject({ code: 0, stdout: expect.stringMatching(/pass 4\n/) });

    const port = String(await freePort());
    const server = folder.start(process.execPath, ['dist/src/main.js'], { cwd: 'stocks', env: { PORT: port } });
    const [, url = ''] = await server.shows(/ready (\S+)/);
    expect(await npx('tools', 'add', 'stocks', url)).toMatchObject({ code: 0 });
    const script = [[{ tool_call: { name: 'quote', arguments: { symbol: 'ACME' } } }], [{ text: 'done' }]];
    const agent = { name: 'trader', model: { provider: 'scripted', parameters: { script } }, tool_servers: ['stocks'] };
    await writeFile(join(folder.path, 'trader.json'), JSON.stringify(agent));
    expect(await npx('agents', 'create', 'trader.json')).toMatchObject({ code: 0 });
    const asked = await folder.run(process.execPath, ['asker.mjs', at.url, at.key, 'trader']);
    expect(asked, asked.stderr).toMatchObject({ code: 0, stdout: 'result ACME is at $120.\n' });

    const twice = folder.start(process.execPath, ['dist/src/main.js'], { cwd: 'stocks', env: { PORT: port } });
    await twice.shows(/port \d+ of 127\.0\.0\.1 is taken by another process/);
    const open = folder.start(process.execPath, ['dist/src/main.js'], { cwd: 'stocks', env: { HOST: '0.0.0.0' } });
    await open.shows(/without `auth` each of them may call its tools/);
    await server.stop();
  });
});
