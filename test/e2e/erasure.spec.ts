// Erasures over the API of a standalone process: nothing is left on its disk, and the log says so and verifies.
import { createPublicKey, verify } from 'node:crypto';
import { canonicalJson } from '@dormouse/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli, connectionFlags } from '../cli/cli-process.ts';
import { foundIn } from './bytes-of-directory.ts';
import { canaryConversation, type CanaryThread } from './contents-at-rest.ts';
import { askingChild, eventsOf, eventually, openThread, say, untilStatus } from './conversation.ts';
import { driveToolServer } from './driven-tool-server.ts';
import { cleanUp, type Json, scratchDirectory, type Standalone, startStandalone } from './standalone-process.ts';

const args: readonly string[] = [];
let at: Standalone;

beforeAll(async () => {
  at = await startStandalone({ args });
});
afterAll(cleanUp);

const ask = async (body: object): Promise<Json> => {
  const answer = await at.request('POST', '/v1/erasures', body);
  expect(answer.status).toBe(202);
  return answer.json;
};

const done = (id: string): Promise<Json> =>
  eventually(async () => {
    const { json } = await at.request('GET', `/v1/erasures/${id}`);
    return json.state === 'done' ? json : undefined;
  });

const erase = async (body: object): Promise<Json> => done((await ask(body)).id);

async function verifies(): Promise<void> {
  const verified = await runCli(['verify', '--all', '--json', ...connectionFlags(at)]);
  expect(verified).toMatchObject({ code: 0 });
  expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, broken: [] });
}

async function isSigned({ signature, ...unsigned }: Json): Promise<boolean> {
  const { keys } = (await at.request('GET', '/v1/audit/keys')).json;
  const jwk = keys.find(({ kid }: Json) => kid === unsigned.kid);
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  return verify(null, Buffer.from(canonicalJson(unsigned)), key, Buffer.from(signature, 'base64url'));
}

describe('the erasure of a family', () => {
  let gone: CanaryThread;
  let kept: CanaryThread;
  let erasure: Json;

  beforeAll(async () => {
    gone = await canaryConversation(at, 'gone');
    kept = await canaryConversation(at, 'kept');
    erasure = await erase({ thread_id: gone.thread });
  });

  it('leaves no byte of its contents and labels, while the process runs and afterwards', async () => {
    expect(foundIn(at.dataDir, gone)).toEqual([]);
    expect(foundIn(at.dataDir, kept)).toEqual(kept.labels); // the search works
    const { dataDir } = at;
    await at.stop();
    expect(foundIn(dataDir, gone)).toEqual([]);
    at = await startStandalone({ dataDir, args });
    expect(JSON.stringify(await eventsOf(at, kept.thread))).toContain('canary-kept-message');
  });

  it('leaves the log: gapless, each event saying so, the last one with the erasure; and it verifies', async () => {
    const events = await eventsOf(at, gone.thread);
    expect(events.map(({ position }) => position)).toEqual(events.map((_, index) => index + 1));
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['content_erased']));
    expect(events.at(-1)).toMatchObject({ scope: 'family', certificate: erasure.id });
    const thread = (await at.request('GET', `/v1/threads/${gone.thread}`)).json;
    expect(thread).toMatchObject({ status: 'closed', title: null, user_id: null, external_id: null, metadata: {} });
    await verifies();
  });

  it('is signed, and asked again is the same', async () => {
    expect(erasure.certificate).toMatchObject({ id: erasure.id, scope: 'family', families: [gone.thread] });
    expect(await isSigned(erasure.certificate)).toBe(true);
    expect(await isSigned({ ...erasure.certificate, scope: 'thread' })).toBe(false);
    expect(await Promise.all([1, 2, 3].map(() => ask({ thread_id: gone.thread })))).toEqual([
      erasure,
      erasure,
      erasure,
    ]);
  });

  it('leaves nothing that could be forked, read or gone on from', async () => {
    const fork = await at.request('POST', `/v1/threads/${gone.thread}/fork`, { position: 2 });
    expect(fork).toMatchObject({ status: 409, json: { code: 'CONTENT_ERASED' } });
    const answer = await at.request('POST', `/v1/threads/${gone.thread}/messages`, { text: 'are you there?' });
    expect(answer.status).toBe(202);
    await eventually(async () => (await eventsOf(at, gone.thread)).length > 0);
    expect((await at.request('GET', `/v1/threads/${gone.thread}/views`)).json.data).toEqual([]);
    await verifies();
  });

  it('is not found for a thread of another tenant, or for none', async () => {
    const unknown = { thread_id: 'thr_00000000000000000000000000' };
    expect((await at.request('POST', '/v1/erasures', unknown)).status).toBe(404);
    expect((await at.request('POST', '/v1/erasures', {})).status).toBe(422);
  });
});

describe('a fork of a thread that is erased', () => {
  it('keeps its own words, loses what it inherits, and goes on', async () => {
    const source = await canaryConversation(at, 'source');
    const { position } = (await at.request('GET', `/v1/threads/${source.thread}`)).json;
    const fork = (await at.request('POST', `/v1/threads/${source.thread}/fork`, { position })).json.id as string;
    const second = (await at.request('POST', `/v1/threads/${fork}/fork`, { position: 2 })).json.id as string;
    await untilStatus(at, second, 'idle');
    const { id } = await erase({ thread_id: source.thread });
    for (const each of [fork, second]) {
      const inherited = { type: 'content_erased', scope: 'inherited', certificate: id };
      expect((await eventsOf(at, each)).at(-1)).toMatchObject(inherited);
      expect((await at.request('GET', `/v1/threads/${each}`)).json.status).toBe('idle');
    }
    expect(foundIn(at.dataDir, source)).toEqual(['label-source-user']); // whose the forks are
    await at.request('POST', `/v1/threads/${fork}/messages`, { text: 'words of its own' });
    const row = await eventually(async () => {
      const { data } = (await at.request('GET', '/v1/threads')).json;
      const found = data.find((each: { readonly id: string }) => each.id === fork);
      return found.title === 'words of its own' && found;
    });
    expect(row.metadata).toEqual({});
    await verifies();
  });
});

describe('the erasure of a user', () => {
  it('takes all threads and credentials of the user, and names the user by a hash alone', async () => {
    const one = await canaryConversation(at, 'usr');
    const user = 'label-usr-user';
    const other = await openThread(at, 'agent-of-usr', { user_id: user });
    const tools = await driveToolServer(at);
    const credentials = `/v1/users/${user}/credentials`;
    const put = await at.request('PUT', `${credentials}/${tools.name}`, { type: 'bearer', value: 'v' });
    expect(put.status, put.text).toBeLessThan(300);
    await tools.close();
    const erasure = await erase({ user_id: user });
    expect(erasure).toMatchObject({ scope: 'user', subject: expect.stringMatching(/^hmac:[0-9a-f]{64}$/), threads: 2 });
    expect(erasure.certificate.families.toSorted()).toEqual([one.thread, other].toSorted());
    expect(foundIn(at.dataDir, one)).toEqual([user]); // in the audit, as the target of `credential.set`
    expect((await at.request('GET', credentials)).json.data).toEqual([]);
    const { data } = (await at.request('GET', '/v1/audit?action=erasure.requested&order=desc')).json;
    expect(data[0]).toMatchObject({ target: erasure.subject });
    expect(await ask({ user_id: user })).toEqual(erasure);
    expect(await ask({ user_id: erasure.subject })).toEqual(erasure); // as after a restore
    const again = await openThread(at, 'agent-of-usr', { user_id: user });
    const next = await erase({ user_id: user });
    expect(next.certificate.families).toEqual([again]);
    expect(next.id).not.toBe(erasure.id);
  });
});

describe('the erasure of a thread below another', () => {
  it('leaves its parent as it is, also while a call of the child runs', async () => {
    const { parent, child } = await askingChild(at);
    const before = await eventsOf(at, parent);
    const erasure = await erase({ thread_id: child });
    expect(erasure.certificate).toMatchObject({ scope: 'thread', families: [child] });
    expect(new Set((await eventsOf(at, child)).map(({ type }) => type))).toEqual(new Set(['content_erased']));
    expect((await eventsOf(at, parent)).slice(0, before.length)).toEqual(before);
    expect(await say(at, parent, 'and you?')).toMatchObject({ status: 'idle' });
    await at.request('POST', `/v1/threads/${child}/messages`, { text: 'too late' });
    await verifies();
  });
});

describe('an erasure', () => {
  it('closes an open thread first; DELETE wants a closed one', async () => {
    const open = await openThread(at, 'agent-of-kept');
    expect(await at.request('DELETE', `/v1/threads/${open}`)).toMatchObject({
      status: 409,
      json: { code: 'THREAD_OPEN' },
    });
    await at.request('POST', `/v1/threads/${open}/close`);
    const removed = await eventually(async () => {
      const answer = await at.request('DELETE', `/v1/threads/${open}`);
      return answer.status === 202 && answer.json;
    });
    expect((await done(removed.id)).certificate.families).toEqual([open]);
  });

  it('is carried out by the next process when one dies in the middle', async () => {
    const dataDir = await scratchDirectory();
    const before = at;
    at = await startStandalone({ dataDir, args });
    const gone = await canaryConversation(at, 'crash');
    const { id } = await ask({ thread_id: gone.thread });
    for (const afterMs of [0, 150, 400, 700]) {
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      await at.stop('SIGKILL');
      at = await startStandalone({ dataDir, args });
    }
    await done(id);
    expect(foundIn(dataDir, gone)).toEqual([]);
    await verifies();
    await at.stop();
    at = before;
  });
});
