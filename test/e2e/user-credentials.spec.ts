// Credentials of end users: which calls carry them, their refresh at a provider, and what a thread is told of its end.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, eventually, openThread, scriptedAgent, type System } from './conversation.ts';
import { driveToolServer, type DrivenToolServer, toolCall } from './driven-tool-server.ts';
import { endSystems, startSystem } from './system.ts';

/** A provider whose refresh tokens are good once, each for a user. */
const provider = {
  good: new Map<string, string>(),
  refreshes: 0,
  asked: [] as URLSearchParams[],
  /** Besides, or instead of, what a provider must answer. */
  oddly: {} as object,
};
let at: System;
let tools: DrivenToolServer;
let server: Server;
let tokenUrl: string;
let agent: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    void text(request).then((body) => {
      const asked = new URLSearchParams(body);
      provider.asked.push(asked);
      const token = asked.get('refresh_token') ?? '';
      const user = provider.good.get(token);
      response.setHeader('content-type', 'application/json');
      if (user === undefined) response.statusCode = 400;
      provider.good.delete(token);
      provider.refreshes += 1;
      const following = `refresh-of-${user}-${provider.refreshes}`;
      if (user !== undefined) provider.good.set(following, user);
      const granted = {
        access_token: `access-of-${user}`,
        token_type: 'Bearer',
        expires_in: 3_600,
        refresh_token: following,
        ...provider.oddly,
      };
      response.end(JSON.stringify(user === undefined ? { error: 'invalid_grant' } : granted));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  tokenUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
  at = await startSystem();
  tools = await driveToolServer(at);
  agent = await scriptedAgent(at, [[toolCall('work')], [{ text: 'done' }]], { tool_servers: [tools.name] });
});
afterAll(async () => {
  server.close();
  await tools.close();
  await endSystems();
});

const pathOf = (user: string): string => `/v1/users/${encodeURIComponent(user)}/credentials/${tools.name}`;
const grantOf = (refresh: string): object => ({
  ...{ type: 'oauth2', token_url: tokenUrl, client_id: 'client', client_secret: 'secret-of-the-client' },
  refresh_token: refresh,
});

/** The thread of a new call, and the authorization that came with it. */
async function called(user: string | null): Promise<{ readonly thread: string; readonly sent: string | undefined }> {
  const count = tools.requests.length;
  const thread = await openThread(at, agent, { user_id: user, message: { text: 'work' } });
  return { thread, sent: (await eventually(async () => tools.requests[count])).headers.authorization };
}

describe('a credential of an end user', () => {
  it('goes with the calls of that user’s threads, and with no others', async () => {
    const user = 'ann@example.com/1';
    expect((await at.request('PUT', pathOf(user), { type: 'bearer', value: 'token-of-ann' })).status).toBe(204);
    expect((await called(user)).sent).toBe('Bearer token-of-ann');
    expect((await called('bob')).sent).toBeUndefined();
    expect((await called(null)).sent).toBeUndefined();
  });

  it.each([
    { token_type: undefined },
    { expires_in: -1 },
    { expires_in: 'soon' },
    { id_token: 'no.token', token_type: undefined },
  ])('is used also where its provider answers %j: its refresh token is spent', async (odd) => {
    provider.oddly = odd;
    const user = `odd-${provider.refreshes}`;
    provider.good.set(`refresh-of-${user}`, user);
    await at.request('PUT', pathOf(user), grantOf(`refresh-of-${user}`));
    const before = provider.refreshes;
    expect((await called(user)).sent).toBe(`Bearer access-of-${user}`);
    expect(provider.refreshes).toBe(before + 1);
    provider.oddly = {};
  });

  it('is shown without its value, and deleted', async () => {
    await at.request('PUT', pathOf('carl'), grantOf('refresh-of-carl'));
    const shown = await at.request('GET', pathOf('carl'));
    expect(shown.json).toMatchObject({ tool_server: tools.name, type: 'oauth2', origin: tools.url, failed_at: null });
    const listed = await at.request('GET', '/v1/users/carl/credentials');
    expect(listed.json.data).toEqual([shown.json]);
    for (const secret of ['refresh-of-carl', 'secret-of-the-client'])
      expect(shown.text + listed.text + at.output()).not.toContain(secret);
    expect((await at.request('DELETE', pathOf('carl'))).status).toBe(204);
    expect((await at.request('GET', pathOf('carl'))).status).toBe(404);
    expect((await at.request('DELETE', pathOf('carl'))).status).toBe(404);
  });

  it('is refused for an unknown server, an unknown field, and a provider at a forbidden address', async () => {
    const bearer = { type: 'bearer', value: 'x' };
    expect((await at.request('PUT', '/v1/users/ann/credentials/none', bearer)).status).toBe(404);
    expect((await at.request('PUT', pathOf('ann'), { ...bearer, more: 1 })).status).toBe(422);
    const hostile = { ...grantOf('x'), token_url: 'http://169.254.169.254/token' };
    const refused = await at.request('PUT', pathOf('ann'), hostile);
    expect([refused.status, refused.json.errors[0].pointer]).toEqual([422, '/token_url']);
  });

  it('is refreshed at its provider, once for many calls', async () => {
    provider.good.set('refresh-of-dora', 'dora');
    await at.request('PUT', pathOf('dora'), grantOf('refresh-of-dora'));
    const before = provider.refreshes;
    const sent = await Promise.all(
      Array.from({ length: 5 }, () => openThread(at, agent, { user_id: 'dora', message: { text: 'work' } })),
    );
    await eventually(
      async () =>
        tools.requests.filter(({ headers }) => headers.authorization === 'Bearer access-of-dora').length ===
        sent.length,
    );
    expect(provider.refreshes - before).toBe(1);
    expect(provider.asked.at(-1)?.get('client_secret')).toBe('secret-of-the-client');
    expect((await at.request('GET', pathOf('dora'))).json.expires_at).not.toBeNull();
  });

  it('that can not be refreshed is told in the thread, and nothing is sent', async () => {
    await at.request('PUT', pathOf('emil'), grantOf('refresh-of-emil-that-is-revoked'));
    const count = tools.requests.length;
    const thread = await openThread(at, agent, { user_id: 'emil', message: { text: 'work' } });
    const events = await eventually(async () => {
      const found = await eventsOf(at, thread);
      return found.some(({ type }) => type === 'tool_call_settled') && found;
    });
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'credential_refresh_failed', tool_server: tools.name, user_id: 'emil' }),
    );
    expect(events.find(({ type }) => type === 'tool_call_settled')).toMatchObject({ outcome: 'error' });
    expect(tools.requests).toHaveLength(count);
    expect((await at.request('GET', pathOf('emil'))).json.failed_at).not.toBeNull();
    expect(JSON.stringify(events) + at.output()).not.toContain('refresh-of-emil');
  });

  it('never goes to another origin than the server had when it was set', async () => {
    const other = await driveToolServer(at);
    await at.request('PUT', pathOf('fay'), { type: 'bearer', value: 'token-of-fay' });
    await at.request('PATCH', `/v1/tool-servers/${tools.name}`, { base_url: other.url });
    const count = tools.requests.length;
    const thread = await openThread(at, agent, { user_id: 'fay', message: { text: 'work' } });
    // The call fails, or, by a process that still knows the registration of before, goes to the origin of before.
    await eventually(
      async () =>
        other.requests.length + tools.requests.length > count ||
        (await eventsOf(at, thread)).some(({ type }) => type === 'tool_call_settled'),
    );
    expect(JSON.stringify(other.requests)).not.toContain('token-of-fay');
    await other.close();
  });
});
