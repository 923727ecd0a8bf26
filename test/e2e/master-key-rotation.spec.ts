// A rotation of the master key from its beginning to the removal of the old one: what was sealed and signed before.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../cli/cli-process.ts';
import { eventsOf, eventually, openThread, scriptedAgent, untilEvent } from './conversation.ts';
import { driveToolServer, type DrivenToolServer, toolCall } from './driven-tool-server.ts';
import { openStream } from './event-stream.ts';
import type { Json } from './standalone-process.ts';
import { cleanUp, scratchDirectory, type Standalone, startStandalone } from './standalone-process.ts';

const value = 'canary-secret-value';
let dataDir: string;
let at: Standalone;
let tools: DrivenToolServer;
/** A call that was sent before, and a token that was given before. */
let before: Json;
let [token, thread, agent] = ['', '', ''];

const cli = (...args: readonly string[]) => runCli([...args, '--url', at.url, '--data', dataDir]);
const keyFile = (): Promise<string> => readFile(join(dataDir, 'master-key'), 'utf8');

/** As the stores have it. */
function sealedSecret(): string {
  const database = new DatabaseSync(join(dataDir, 'dormouse.db'), { readOnly: true });
  const row = database.prepare("SELECT document FROM secrets WHERE name = 'tools_key'").get() as { document: string };
  database.close();
  return (JSON.parse(row.document) as { readonly sealed: string }).sealed;
}

async function again(): Promise<void> {
  await at.stop();
  at = await startStandalone({ dataDir, port: at.port });
}

/** The credential that comes with a call which is made now. */
async function presented(): Promise<string | undefined> {
  const count = tools.requests.length;
  await at.request('POST', '/v1/threads', { agent, message: { text: 'work' } });
  return (await eventually(async () => tools.requests[count])).headers.authorization;
}

const readBy = async (key: string): Promise<number> =>
  (await at.request('GET', `/v1/threads/${thread}`, undefined, { key })).status;
const newToken = async (): Promise<string> =>
  (await at.request('POST', `/v1/threads/${thread}/tokens`, { can: ['read'], ttl_s: 3_600 })).json.token;

beforeAll(async () => {
  dataDir = await scratchDirectory();
  at = await startStandalone({ dataDir });
  tools = await driveToolServer(at);
  await at.request('PUT', '/v1/secrets/tools_key', { value, origins: [tools.url] });
  await at.request('PATCH', `/v1/tool-servers/${tools.name}`, { auth: { type: 'bearer', secret: 'tools_key' } });
  agent = await scriptedAgent(at, [[toolCall('work')]], { tool_servers: [tools.name] });
  thread = await openThread(at, agent);
  expect(await presented()).toBe(`Bearer ${value}`);
  before = await tools.invocation(0);
  token = await newToken();
});
afterAll(async () => {
  await tools.close();
  await cleanUp();
});

// One story, in this order.
describe('a rotation of the master key', () => {
  it('begins with a key that is added, and is used from its time on', async () => {
    expect(sealedSecret().startsWith('v1.')).toBe(true);
    const [old] = (await keyFile()).trim().split('\n');
    expect((await cli('keys', 'new-master', '--in', '0s', '--into', dataDir)).code).toBe(0);
    expect((await keyFile()).trim().split('\n')).toEqual([expect.stringMatching(/^[0-9a-f]{64}@\d{4}-/), old]);
    await again();
    await eventually(async () => (await at.request('POST', '/v1/master-key/reseal')).json.since !== null);
  });

  it('leaves what was sealed and signed before good', async () => {
    expect(await presented()).toBe(`Bearer ${value}`);
    expect(await readBy(token)).toBe(200);
    expect(await tools.send(before, { type: 'tool_result', text: 'done' })).toBe(200);
  });

  it('seals every secret again, as often as it is asked', async () => {
    await at.request('PUT', '/v1/secrets/tools_key', { value, origins: [tools.url] });
    for (let round = 0; round < 2; round += 1) {
      const rotated = await cli('keys', 'rotate-master', '--json');
      expect(rotated).toMatchObject({ code: 0 });
      const { kid, done, unreadable } = JSON.parse(rotated.stdout);
      expect([done, unreadable, sealedSecret().startsWith(`v2.${kid}.`)]).toEqual([true, [], true]);
    }
    expect(await presented()).toBe(`Bearer ${value}`);
  });

  it('ends with the removal of the old key, and of what only that had signed', async () => {
    const late = await newToken();
    const [newest = ''] = (await keyFile()).trim().split('\n');
    await writeFile(join(dataDir, 'master-key'), `${newest}\n`);
    await again();
    expect(await presented()).toBe(`Bearer ${value}`);
    expect([await readBy(token), await readBy(late)]).toEqual([401, 200]);
    expect(await tools.send(before, { type: 'tool_result', text: 'again' })).toBe(401);
    const last = tools.requests.at(-1)?.body;
    expect(await tools.send(last, { type: 'tool_result', text: 'done' })).toBe(200);
    const jwks = (await at.request('GET', '/v1/audit/keys')).json.keys;
    expect(jwks).toHaveLength(1);
  });
});

describe('a data directory', () => {
  it.each([
    ['lost its master key', null],
    ['was given that of another', '0'.repeat(64)],
  ])('that %s is refused, and opens again with its own', async (_, other) => {
    const own = await scratchDirectory();
    const first = await startStandalone({ dataDir: own });
    const kept = await openThread(first);
    await first.stop();
    const path = join(own, 'master-key');
    const key = await readFile(path, 'utf8');
    await (other === null ? rm(path) : writeFile(path, other));
    await expect(startStandalone({ dataDir: own })).rejects.toThrow('MASTER_KEY_WRONG');
    expect((await readdir(own)).includes('master-key')).toBe(other !== null); // no new key is left there
    await writeFile(path, key);
    const last = await startStandalone({ dataDir: own });
    expect((await last.request('GET', `/v1/threads/${kept}/events`)).status).toBe(200);
    await last.stop();
  });
});

describe('what is sealed for a time, and not again', () => {
  it('is over when its key is removed before, and fails no reader', async () => {
    const own = await scratchDirectory();
    let one = await startStandalone({ dataDir: own });
    const restart = async (): Promise<void> => {
      await one.stop();
      one = await startStandalone({ dataDir: own, port: one.port });
    };
    const driven = await driveToolServer(one);
    const working = await scriptedAgent(one, [[toolCall('work')], [{ text: 'done' }]], { tool_servers: [driven.name] });
    const start = async (nth: number, message: Json): Promise<string> => {
      const id = await openThread(one, working, { message: { text: 'work' } });
      expect(await driven.send(await driven.invocation(nth), message)).toBe(200);
      return id;
    };
    const login = await start(0, { type: 'oauth', auth_url: 'https://login.example/?state=canary' });
    await untilEvent(one, login, 'oauth_requested');
    const question = { type: 'user_choice', prompt: '?', choices: ['a', 'b'], default: 0 };
    const asked = await start(1, { ...question, response_url: `${driven.url}/answers` });
    const { choice_id: choice } = await untilEvent(one, asked, 'choice_requested');
    const again = { headers: { 'idempotency-key': 'shown-once' } };
    const body = { name: 'some', scopes: ['read'] };
    expect((await one.request('POST', '/v1/api-keys', body, again)).status).toBe(201);
    await one.request('PUT', '/v1/secrets/hook', { value: 'a secret' });
    const source = { name: 'code', kind: 'github', secret: 'hook', agent: working, key: '/id', message: 'x' };
    const { url } = (await one.request('POST', '/v1/sources', source)).json;

    expect((await runCli(['keys', 'new-master', '--in', '0s', '--into', own])).code).toBe(0);
    await restart();
    await eventually(async () => (await one.request('POST', '/v1/master-key/reseal')).json.done === true);
    expect((await one.request('POST', '/v1/api-keys', body, again)).status).toBe(201); // while it has the old key
    const [newest = ''] = (await readFile(join(own, 'master-key'), 'utf8')).trim().split('\n');
    await writeFile(join(own, 'master-key'), `${newest}\n`);
    await restart();

    const stream = await openStream(one, login);
    const shown = [...(await stream.until(({ event }) => event === 'status'))];
    await one.request('POST', `/v1/threads/${login}/interrupt`, { include_human: true });
    shown.push(...(await stream.until(({ data }) => data?.type === 'tool_call_settled')));
    stream.close();
    expect(JSON.stringify(shown)).not.toContain('canary');
    expect((await one.request('GET', `/v1/threads/${login}`)).status).toBe(200);

    expect((await one.request('POST', `/v1/threads/${asked}/choices/${choice}`, { selected: 1 })).status).toBe(202);
    const settled = await eventually(async () =>
      (await eventsOf(one, asked)).find(({ type }) => type === 'tool_call_settled'),
    );
    expect(JSON.stringify(settled)).toContain('sealed with a master key that was removed');
    expect(driven.others('/answers')).toEqual([]);

    const late = await one.request('POST', '/v1/api-keys', body, again);
    expect([late.status, late.json.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
    expect((await one.request('POST', '/v1/sources', source)).json.url).toBe(url);
    await driven.close();
  });
});
