// The audit beside a running system: what was done is in it, once, in a chain that an offline check accepts.
import { type AuditKey, type AuditRow, verifyAudit } from '@dormouse/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, openThread, say, scriptedAgent, sentCalls, type System } from './conversation.ts';
import { driveToolServer, toolCall } from './driven-tool-server.ts';
import { endSystems, startSystem } from './system.ts';

let at: System;
beforeAll(async () => {
  at = await startSystem();
});
afterAll(endSystems);

async function rowsOf(query = ''): Promise<readonly AuditRow[]> {
  const { status, json } = await at.request('GET', `/v1/audit?limit=200${query}`);
  expect(status).toBe(200);
  return json.data;
}

async function exported(): Promise<readonly string[]> {
  const { status, text, headers } = await at.request('GET', '/v1/audit/export');
  expect([status, headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
  return text.split('\n');
}

async function keysOf(): Promise<readonly AuditKey[]> {
  return (await at.request('GET', '/v1/audit/keys')).json.keys;
}

describe('the audit', () => {
  it('has each change of a tenant, with the credential, the address and the request', async () => {
    const before = (await rowsOf('&order=desc')).at(0)?.seq ?? 0;
    const secret = await at.request('PUT', '/v1/secrets/audited', { value: 'v', origins: ['https://a.example'] });
    const made = await at.request('POST', '/v1/api-keys', { name: 'audited', scopes: ['read'] });
    const thread = await openThread(at);
    const token = await at.request('POST', `/v1/threads/${thread}/tokens`, { can: ['read'], ttl_s: 60 });
    await at.request('DELETE', `/v1/threads/${thread}/tokens/${token.json.id}`);
    await at.request('DELETE', `/v1/api-keys/${made.json.id}`);
    await at.request('DELETE', '/v1/secrets/audited');
    const rows = (await rowsOf()).filter(({ seq }) => seq > before);
    expect(rows.map(({ action, target }) => [action, target])).toEqual([
      ['secret.set', 'audited'],
      ['key.created', made.json.id],
      ['token.created', token.json.id],
      ['token.revoked', token.json.id],
      ['key.revoked', made.json.id],
      ['secret.deleted', 'audited'],
    ]);
    expect(rows[0]).toMatchObject({
      from: '127.0.0.1',
      outcome: 'done',
      request_id: secret.headers.get('x-request-id'),
    });
    expect(new Set(rows.map(({ actor }) => actor)).size).toBe(1);
  });

  it('has a request once that was sent again with its key, and none that was refused', async () => {
    const before = (await rowsOf('&order=desc')).at(0)?.seq ?? 0;
    const headers = { 'idempotency-key': `audited-${before}` };
    const body = { name: 'again', scopes: ['read'] };
    const [first, again] = [
      await at.request('POST', '/v1/api-keys', body, { headers }),
      await at.request('POST', '/v1/api-keys', body, { headers }),
    ];
    expect(again.json).toEqual(first.json);
    expect((await at.request('DELETE', '/v1/secrets/was-never-there')).status).toBe(404);
    expect((await at.request('POST', '/v1/api-keys', { name: 'x' })).status).toBe(422);
    const rows = (await rowsOf()).filter(({ seq }) => seq > before);
    expect(rows.map(({ action, target }) => [action, target])).toEqual([['key.created', first.json.id]]);
  });

  it('has who allowed a call, when it was sent, and what a key was refused', async () => {
    const tools = await driveToolServer(at);
    const policies = { approve: { mode: 'all' } };
    const agent = await scriptedAgent(at, [[toolCall('work', {})], [{ text: 'done' }]], {
      ...{ policies, tool_servers: [tools.name] },
    });
    const thread = await openThread(at, agent);
    const choice = (await say(at, thread, 'work')).waiting_on[0];
    const made = await at.request('POST', '/v1/api-keys', { name: 'answerer', scopes: ['approvals:write'] });
    const before = (await rowsOf('&order=desc')).at(0)?.seq ?? 0;
    const { key } = made.json;
    expect((await at.request('GET', '/v1/audit', undefined, { key })).status).toBe(403);
    const decision = { decision: 'allow', decided_by: 'ann' };
    await at.request('POST', `/v1/choices/${choice.id}`, decision, { key });
    const call = await eventually(async () => {
      const rows = (await rowsOf()).filter(({ seq }) => seq > before);
      return rows.length >= 3 && rows;
    });
    expect(call).toMatchObject([
      { actor: made.json.id, action: 'auth.forbidden', outcome: 'This key lacks the scope tenant:admin.' },
      { actor: made.json.id, action: 'choice.allowed', target: choice.id, from: '127.0.0.1' },
      { actor: thread, action: 'tool_call.sent', outcome: 'sent', from: null },
    ]);
    const [sent] = await sentCalls(at, thread);
    expect(call[2]?.target).toBe(sent?.tool_call_id);
    await at.request('DELETE', `/v1/api-keys/${made.json.id}`);
    await eventually(async () => (await at.request('GET', '/v1/agents', undefined, { key })).status === 401);
    expect((await rowsOf('&action=auth.failed')).at(-1)).toMatchObject({ actor: made.json.id, outcome: 'revoked' });
  });

  it('is read by pages, by action and by time, and only with tenant:admin', async () => {
    const all = await rowsOf();
    const page = await at.request('GET', '/v1/audit?limit=2&order=desc');
    const next = await at.request('GET', `/v1/audit?limit=2&order=desc&cursor=${page.json.next_cursor}`);
    const seqs = [...page.json.data, ...next.json.data].map(({ seq }: AuditRow) => seq);
    expect(seqs).toEqual([0, 1, 2, 3].map((back) => (all.at(-1)?.seq ?? 0) - back));
    const made = await rowsOf('&action=key.created');
    expect(made).toEqual(all.filter(({ action }) => action === 'key.created'));
    const third = all[2]?.at ?? '';
    expect(await rowsOf(`&to=${third}`)).toEqual(all.filter((row) => row.at < third));
    expect((await at.request('GET', '/v1/audit?from=yesterday')).status).toBe(422);
    const key = (await at.request('POST', '/v1/api-keys', { name: 'reader', scopes: ['read'] })).json.key;
    for (const path of ['/v1/audit', '/v1/audit/export', '/v1/audit/keys'])
      expect((await at.request('GET', path, undefined, { key })).status).toBe(403);
  });

  it('is exported with a signed root that an offline check accepts, and no changed one', async () => {
    const lines = await exported();
    const keys = await keysOf();
    const verdict = await verifyAudit(lines, keys);
    expect(verdict).toMatchObject({ ok: true, signature: 'checked' });
    const last = (await rowsOf('&order=desc')).at(0);
    expect(last?.action).toBe('audit.exported');
    expect(verdict).toMatchObject({ rows: last?.seq, head: last?.hash });
    const changed = lines.map((line, place) => (place === 0 ? line.replace('"done"', '"gone"') : line));
    expect(await verifyAudit(changed, keys)).toMatchObject({ ok: false, line: 1 });
  });

  it('keeps one chain while many change things at once', async () => {
    const names = Array.from({ length: 40 }, (_, place) => `crowd-${place}`);
    const answers = await Promise.all(
      names.map((name) => at.request('PUT', `/v1/secrets/${name}`, { value: 'v', origins: ['https://a.example'] })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
    const targets = (await rowsOf('&action=secret.set')).map(({ target }) => target ?? '');
    expect(targets.filter((target) => target.startsWith('crowd-')).toSorted()).toEqual(names.toSorted());
    expect(await verifyAudit(await exported(), await keysOf())).toMatchObject({ ok: true });
  });
});
