// A model of one's own in three commands, against a provider on loopback that is as strict as the real ones.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { cleanUp, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { type ProviderServer, startProviderServer } from '../model/provider-server.ts';
import { type CliRun, connectionFlags, runCli } from './cli-process.ts';

const key = 'sk-canary-0123456789abcdef';
let provider: ProviderServer;
let at: Standalone;

beforeAll(async () => {
  provider = await startProviderServer(key);
  const env = { OPENAI_BASE_URL: provider.url, ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: key };
  at = await startStandalone({ env });
});
afterEach(() => expect(provider.refusals.splice(0)).toEqual([]));
afterAll(async () => {
  await cleanUp();
  await provider.close();
});

const cli = (args: readonly string[], input = ''): Promise<CliRun> =>
  runCli([...connectionFlags(at), ...args], { input });

describe('a model of one’s own', () => {
  it('is a key, an agent and a conversation, which calls a tool', async () => {
    expect(await cli(['models', 'openai'])).toMatchObject({ code: 0, stdout: expect.stringContaining('no key') });
    expect(await cli(['secrets', 'set', 'openai'], `${key}\n`)).toMatchObject({ code: 0, stderr: '' });
    const made = await cli(['agents', 'create', 'helper', '--model', 'openai/model-one', '--tools', 'example-tools']);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('helper v1') });
    const thread = (await at.request('POST', '/v1/threads', { agent: 'helper' })).json.id as string;
    const said = await cli(['send', thread, 'call weather {"city":"Oslo"}', '--wait', '30s']);
    expect(said).toMatchObject({ code: 0, stdout: expect.stringContaining('results: Oslo, Norway') });
    const events = await cli(['events', thread, '--json']);
    for (const text of [said.stdout, events.stdout, at.output()]) expect(text).not.toContain(key);
  });

  it('may use a key of the environment', async () => {
    await cli(['agents', 'create', 'other', '--model', 'anthropic/model-one', '--instructions', 'Be brief.']);
    const thread = (await at.request('POST', '/v1/threads', { agent: 'other' })).json.id as string;
    expect((await cli(['send', thread, 'hello', '--wait', '30s'])).stdout).toContain('heard: hello');
  });

  it('is one of those that the provider lists, with the window where it is said', async () => {
    const { stdout } = await cli(['models', 'anthropic']);
    expect(stdout).toContain('key of the environment');
    expect(stdout).toMatch(/anthropic\/model-one\s+200,000 tokens/);
    const { stdout: json } = await cli(['models', '--json']);
    const lines = json
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { provider: string });
    expect(lines.map((each) => each.provider)).toEqual([
      'demo',
      'scripted',
      'openai-compatible',
      'openai',
      'anthropic',
    ]);
  });

  it('lacks something: each says what', async () => {
    expect(await cli(['secrets', 'set', 'stripe'], 'x')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('--origin'),
    });
    expect(await cli(['secrets', 'set', 'openai'], '\n')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('empty'),
    });
    expect(await cli(['agents', 'create', 'nothing', '--tools', 'example-tools'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--model'),
    });
    expect(await cli(['agents', 'create', 'odd', '--model', 'openai'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('/model/name'),
    });
    const odd = { name: 'odd', model: { provider: 'openai', name: 'm', parameters: { api: 'soap' } } };
    const refused = await at.request('POST', '/v1/agents', odd);
    expect(refused).toMatchObject({ status: 422, json: { errors: [{ pointer: '/model/parameters/api' }] } });
  });

  it('keeps the secret that it uses: a deletion is refused, by the name of its provider too', async () => {
    expect((await cli(['secrets', 'list'])).stdout).toMatch(new RegExp(`openai\\s+${provider.origin}`));
    expect(await cli(['secrets', 'delete', 'openai'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('uses'),
    });
  });

  it('overflows: the turn ends with a code of its own', async () => {
    const thread = (await at.request('POST', '/v1/threads', { agent: 'helper' })).json.id as string;
    provider.refuseNext(400, { error: { message: 'too long', code: 'context_length_exceeded' } });
    const answer = await at.request(
      'POST',
      `/v1/threads/${thread}/messages`,
      { text: 'hello' },
      { headers: { prefer: 'wait=30' } },
    );
    expect(answer.json).toMatchObject({ last_error: { code: 'CONTEXT_OVERFLOW' } });
    expect((await at.request('GET', '/errors/CONTEXT_OVERFLOW')).text).toContain('window');
  });
});
