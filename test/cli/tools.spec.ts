// `dormouse tools`, and a chat whose tool server changes, against a running runtime and servers of the SDK.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { defineTool, serve, type ServeOptions, type Tool, type ToolServer } from '@dormouse/tool-server';
import { z } from 'zod';
import { cleanUp, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { freePort } from '../services/free-ports.ts';
import { type CliRun, connectionFlags, hasTerminal, runCli, startInTerminal } from './cli-process.ts';

let at: Standalone;
beforeAll(async () => {
  at = await startStandalone();
});
afterAll(cleanUp);

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

const cli = (...args: readonly string[]): Promise<CliRun> => runCli([...connectionFlags(at), ...args]);
const tool = (name: string): Tool =>
  defineTool({ name, description: `Says ${name}.`, input: z.strictObject({}) }, () => name);

async function served(options: Partial<ServeOptions> = {}): Promise<ToolServer> {
  const server = await serve({ name: 'bench', tools: [tool('one')], log: () => {}, ...options });
  undo.push(server.close);
  return server;
}

async function secret(name: string, value: string, origin: string): Promise<void> {
  const body = { value, origins: [origin] };
  expect((await at.request('PUT', `/v1/secrets/${name}`, body)).status).toBe(204);
}

const exists = async (name: string): Promise<boolean> =>
  (await at.request('GET', `/v1/tool-servers/${name}`)).status === 200;

describe('tools probe', () => {
  it('says that the credential is accepted, and that it is refused', async () => {
    const { url } = await served({ auth: { bearer: 'the right secret' } });
    await secret('right', 'the right secret', url);
    await secret('wrong', 'another secret', url);
    expect(await cli('tools', 'add', 'guarded', url, '--bearer', 'right')).toMatchObject({ code: 0 });
    expect(await cli('tools', 'probe', 'guarded')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('The credential is accepted.'),
    });
    const wrong = await cli('tools', 'add', 'wrongly-guarded', url, '--bearer', 'wrong');
    expect(wrong).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/credential: the server answers 401 to/),
    });
    expect(await cli('tools', 'probe', 'wrongly-guarded')).toMatchObject({ code: 5 });
    const without = await cli('tools', 'add', 'unguarded', url);
    expect(without.stderr).toMatch(/it asks for a credential, and the registration has none/);
    const { json } = await at.request('POST', '/v1/tool-servers/guarded/probe');
    expect(json).toMatchObject({ ok: true, problems: [], credential: { state: 'accepted', detail: null } });
  });

  it('says that it is signed rightly, with the secret that the server has', async () => {
    const { url } = await served({ auth: { hmac: 'a key for signatures' } });
    await secret('hmac-key', 'a key for signatures', url);
    expect(await cli('tools', 'add', 'signed', url, '--hmac', 'hmac-key')).toMatchObject({ code: 0 });
    expect((await cli('tools', 'probe', 'signed')).stdout).toContain('The credential is accepted.');
    expect(await cli('tools', 'add', 'both', url, '--hmac', 'hmac-key', '--bearer', 'hmac-key')).toMatchObject({
      code: 2,
    });
  });

  it('says when it cannot tell: a server that takes everything has checked nothing', async () => {
    const { url } = await served();
    await secret('unused', 'whatever it is', url);
    const added = await cli('tools', 'add', 'open', url, '--bearer', 'unused');
    expect(added.stderr).toMatch(/could not be checked: the server takes a notice without the credential as well/);
    const { json } = await at.request('POST', '/v1/tool-servers/open/probe');
    expect(json).toMatchObject({ ok: true, credential: { state: 'unchecked' } });
    const skipped = await at.request('POST', '/v1/tool-servers/open/probe?credential=skip');
    expect(skipped.json).toMatchObject({ ok: true, credential: { state: 'unchecked', detail: null } });
  });
});

it('tools probe says where it looked for a manifest that is not there', async () => {
  const { url } = await served();
  expect(await cli('tools', 'probe', `${url}/elsewhere`)).toMatchObject({
    code: 5,
    stdout: expect.stringMatching(
      /TOOLSET_UNREACHABLE: the server answered 404: no manifest at \/elsewhere\/\.well-known\/rap-toolset\n/,
    ),
  });
});

describe('tools add', () => {
  it('refuses what the runtime may never call, and leaves nothing registered', async () => {
    for (const url of ['http://169.254.169.254', 'http://10.1.2.3:8080', 'http://[fd00::1]:8080']) {
      const run = await cli('tools', 'add', 'never', url);
      expect(run, url).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(
          /\/base_url could never be called, OUTBOUND_FORBIDDEN: .*DORMOUSE_OUTBOUND_ALLOW/,
        ),
      });
      expect(await exists('never')).toBe(false);
    }
    expect((await cli('tools', 'add', 'never', 'ftp://127.0.0.1/')).code).not.toBe(0);
    await secret('elsewhere', 'a value', 'https://other.example');
    expect(await cli('tools', 'add', 'never', 'http://127.0.0.1:8080', '--bearer', 'elsewhere')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/\/auth\/secret could never be sent: the secret is for https:\/\/other\.example/),
    });
    expect(await exists('never')).toBe(false);
  });

  it('registers what does not answer yet, and warns', async () => {
    const run = await cli('tools', 'add', 'later', `http://127.0.0.1:${await freePort()}`);
    expect(run).toMatchObject({ code: 0, stderr: expect.stringMatching(/TOOLSET_UNREACHABLE[^]*cannot be used yet/) });
    expect(await exists('later')).toBe(true);
  });
});

describe('tools set', () => {
  it('changes what it was given and leaves the rest, as `tools add` of a taken name says', async () => {
    const { url } = await served({ auth: { bearer: 'the key' } });
    await secret('set-key', 'the key', url);
    const added = await cli('tools', 'add', 'settable', url);
    expect(added.stderr).toMatch(/it asks for a credential/);
    const again = await cli('tools', 'add', 'settable', url, '--bearer', 'set-key');
    const flags = connectionFlags(at).join(' ');
    const change = `tools set settable --base-url ${url} --bearer set-key`;
    expect(again).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`Change it: npx @dormouse/cli ${change} ${flags}`),
    });
    const set = await cli('tools', 'set', 'settable', '--bearer', 'set-key');
    expect(set, set.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining(`settable ${url}`) });
    expect(set.stderr).toMatch(/It has 1 tools/);
    const registered = async () => (await at.request('GET', '/v1/tool-servers/settable')).json;
    expect(await registered()).toMatchObject({ base_url: url, auth: { type: 'bearer', secret: 'set-key' } });
    expect(await cli('tools', 'set', 'settable', '--no-credential')).toMatchObject({ code: 0 });
    expect(await registered()).toMatchObject({ auth: null });
    const elsewhere = `http://127.0.0.1:${await freePort()}`;
    expect(await cli('tools', 'set', 'settable', '--base-url', elsewhere)).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/cannot be used yet/),
    });
    expect(await registered()).toMatchObject({ base_url: elsewhere, auth: null });
  });

  it('refuses what changes nothing, what contradicts itself, and a name that nothing has', async () => {
    expect(await cli('tools', 'set', 'settable')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--base-url URL/),
    });
    expect((await cli('tools', 'set', 'settable', '--bearer', 'a', '--hmac', 'b')).code).toBe(2);
    expect((await cli('tools', 'set', 'settable', '--bearer', 'a', '--no-credential')).code).toBe(2);
    expect(await cli('tools', 'set', 'missing', '--no-credential')).toMatchObject({ code: 1 });
  });
});

it('tools delete forgets a registration, once', async () => {
  expect((await cli('tools', 'add', 'forgettable', `http://127.0.0.1:${await freePort()}`)).code).toBe(0);
  expect(await cli('tools', 'delete', 'forgettable')).toMatchObject({ code: 0, stdout: 'forgettable is deleted\n' });
  expect(await exists('forgettable')).toBe(false);
  expect(await cli('tools', 'delete', 'forgettable')).toMatchObject({ code: 1 });
});

describe('a tool server that has new tools', () => {
  async function changing(name: string): Promise<{ readonly thread: string; readonly change: () => Promise<void> }> {
    const port = await freePort();
    const first = await served({ port });
    expect(await cli('tools', 'add', name, first.url)).toMatchObject({ code: 0 });
    const agent = { name: `${name}-agent`, model: { provider: 'demo' }, tool_servers: [name] };
    expect((await at.request('POST', '/v1/agents', agent)).status).toBe(201);
    const thread = (await cli('threads', 'open', '--agent', agent.name)).stdout.trim();
    const toolsets = async (): Promise<unknown[]> => (await at.request('GET', `/v1/threads/${thread}`)).json.toolsets;
    while ((await toolsets()).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await toolsets()).toMatchObject([{ tool_server: name, tools: ['one'], stale: false }]);
    const change = async (): Promise<void> => {
      await first.close();
      await served({ port, tools: [tool('two'), tool('three')] });
    };
    return { thread, change };
  }

  it('gives them to an open thread by `tools refresh`, which says what has changed', async () => {
    const { thread, change } = await changing('changing');
    expect(await cli('tools', 'refresh', thread)).toMatchObject({ code: 0, stdout: `${thread}  the same tools\n` });
    await change();
    const all = await cli('tools', 'refresh');
    expect(all, all.stderr).toMatchObject({ code: 0 });
    expect(all.stdout).toMatch(new RegExp(`^${thread} {2}changing: added two, three, removed one, changed none$`, 'm'));
    const { json } = await at.request('GET', `/v1/threads/${thread}`);
    expect(json.toolsets).toMatchObject([{ tools: ['two', 'three'] }]);
  });

  it('refuses a name where `tools refresh` takes a thread, with the next step', async () => {
    expect(await cli('tools', 'refresh', 'stocks')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/"stocks" is no thread: ids of threads begin with thr_\.\n.*tools refresh --url/),
    });
  });

  it.runIf(hasTerminal)('is told of in an open chat, where /refresh takes them', async () => {
    const { thread, change } = await changing('told');
    const chat = startInTerminal([...connectionFlags(at), 'chat', thread]);
    await chat.shows('/help for commands');
    await change();
    await chat.shows('told has other tools now: added two, three; removed one. /refresh takes them.');
    chat.type('/refresh\r');
    await chat.shows('tools of told: added two, three, removed one');
    chat.type('/quit\r');
    await chat.done;
  });
});
