// Links with which people without a key answer approvals: made by a key, shown as a page without script, good once.
import { get } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, eventually, openThread, say, scriptedAgent, type System, untilStatus } from '../e2e/conversation.ts';
import { type DrivenToolServer, driveToolServer, toolCall } from '../e2e/driven-tool-server.ts';
import type { Answer, Json } from '../e2e/standalone-process.ts';
import { endSystems, startSystem } from '../e2e/system.ts';
import { platformKey, tenantOf } from '../isolation/tenant-system.ts';

let root: System;
let at: System;
let tools: DrivenToolServer;

beforeAll(async () => {
  root = await startSystem({ DORMOUSE_PLATFORM_KEY: platformKey });
  at = await tenantOf(root, 'team');
  tools = await driveToolServer(at);
});
afterAll(async () => {
  await tools.close();
  await endSystems();
});

interface Asked {
  readonly thread: string;
  readonly choice: string;
}

const approveAll = { policies: { approve: { mode: 'all' } } };

/** A thread whose call with these arguments waits for an approval. */
async function asking(
  args: Readonly<Record<string, unknown>> = { what: 'all' },
  by: System = at,
  server: DrivenToolServer = tools,
): Promise<Asked> {
  const script = [[toolCall('work', args)], [{ text: 'finished' }]];
  const agent = await scriptedAgent(by, script, { ...approveAll, tool_servers: [server.name] });
  const thread = await openThread(by, agent);
  const { waiting_on: waitingOn } = await say(by, thread, 'clean up');
  return { thread, choice: waitingOn[0].id };
}

const linkOf = async ({ choice }: Asked, more: object = {}, by: System = at): Promise<string> => {
  const answer = await by.request('POST', `/v1/choices/${choice}/links`, { for: 'ann', ttl_s: 600, ...more });
  if (answer.status !== 201) throw new Error(`link: ${answer.status} ${answer.text}`);
  const { origin, pathname } = new URL(answer.json.url);
  expect(origin).toBe(at.url);
  return pathname;
};

const noKey = { key: null } as const;
const open = (link: string): Promise<Answer> => at.request('GET', link, undefined, noKey);
const press = (link: string, form: string | Readonly<Record<string, string>>, headers = {}): Promise<Answer> =>
  at.request('POST', link, new URLSearchParams(form).toString(), {
    ...noKey,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });

const settledIn = async (thread: string): Promise<readonly Json[]> =>
  (await eventsOf(at, thread)).filter(({ type }) => type === 'choice_settled');

describe('an answer link', () => {
  it('shows the call, changes nothing by being opened, and answers once', async () => {
    const asked = await asking({ what: 'the <b>west</b> wing' });
    const link = await linkOf(asked);
    const page = await open(link);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    for (const shown of [
      'work',
      tools.name,
      'ann',
      'the &lt;b&gt;west&lt;/b&gt; wing',
      'value="allow"',
      'value="deny"',
    ])
      expect(page.text).toContain(shown);
    for (const method of ['GET', 'HEAD', 'GET'])
      expect((await at.request(method, link, undefined, noKey)).status).toBe(200);
    expect(await settledIn(asked.thread)).toEqual([]);
    // As a browser posts the form of a page that names no referrer.
    const taken = await press(link, { answer: 'deny', reason: 'not on a Friday' }, { origin: 'null' });
    expect([taken.status, taken.text]).toEqual([200, expect.stringContaining('Denied')]);
    await untilStatus(at, asked.thread, 'idle');
    expect(await settledIn(asked.thread)).toMatchObject([{ decision: 'deny', by: 'ann', reason: 'not on a Friday' }]);
    const { data } = (await at.request('GET', `/v1/threads/${asked.thread}/messages`)).json;
    expect(JSON.stringify(data)).toContain('denied by ann: not on a Friday'); // the model reads it
    for (const again of [await press(link, { answer: 'allow' }), await open(link)])
      expect([again.status, again.text]).toEqual([410, expect.stringContaining('deny, by ann')]);
    expect(await settledIn(asked.thread)).toHaveLength(1);
  });

  it('has headers that keep the page to itself', async () => {
    const link = await linkOf(await asking());
    for (const answer of [await open(link), await open(`${link}x`), await press(link, { answer: 'maybe' })]) {
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("form-action 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|script-src/);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.text).not.toMatch(/<script|\son\w+=|https?:\/\//i);
      expect(answer.text).not.toContain(link);
    }
  });

  it('posted a hundred times at once is one answer', async () => {
    const asked = await asking();
    const link = await linkOf(asked);
    const all = await Promise.all(
      Array.from({ length: 100 }, (_, place) => press(link, { answer: place % 2 === 0 ? 'allow' : 'deny' })),
    );
    const statuses = all.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 410)).toHaveLength(99);
    const [settled, ...others] = await settledIn(asked.thread);
    expect(others).toEqual([]);
    expect(settled?.decision).toBe(statuses.indexOf(200) % 2 === 0 ? 'allow' : 'deny');
  });

  it('works no more when the question was answered elsewhere, or its thread is closed', async () => {
    const [one, two] = [await asking(), await asking()];
    const links = [await linkOf(one), await linkOf(two)];
    await at.request('POST', `/v1/choices/${one.choice}`, { decision: 'allow', decided_by: 'ben' });
    await at.request('POST', `/v1/threads/${two.thread}/close`);
    await untilStatus(at, two.thread, 'closed');
    for (const link of links)
      for (const answer of [await open(link), await press(link, { answer: 'allow' })]) expect(answer.status).toBe(410);
    const late = await at.request('POST', `/v1/choices/${one.choice}/links`, { for: 'ann', ttl_s: 60 });
    expect([late.status, late.json.code]).toEqual([409, 'CHOICE_SETTLED']);
  });

  it('expires', async () => {
    const asked = await asking();
    const link = await linkOf(asked, { ttl_s: 1 });
    await eventually(async () => (await open(link)).status === 410);
    const late = await press(link, { answer: 'allow' });
    expect([late.status, late.text]).toEqual([410, expect.stringContaining('expired')]);
    expect(await settledIn(asked.thread)).toEqual([]);
  });

  it('allows what it was made for and no more, and takes one answer of its form alone', async () => {
    const asked = await asking();
    const link = await linkOf(asked, { can: ['deny'] });
    expect((await open(link)).text).not.toContain('value="allow"');
    expect((await press(link, { answer: 'allow' })).status).toBe(422);
    for (const form of ['', 'answer=', 'answer=allow_for_thread', 'answer=deny&answer=allow', 'decision=deny'])
      expect((await press(link, form)).status).toBe(422);
    const json = { ...noKey, headers: { 'content-type': 'application/json' } };
    expect((await at.request('POST', link, { answer: 'deny' }, json)).status).toBe(415);
    expect((await press(link, { answer: 'deny', reason: 'x'.repeat(20_000) })).status).toBe(413);
    expect((await at.request('DELETE', link, undefined, noKey)).status).toBe(405);
    expect(await settledIn(asked.thread)).toEqual([]);
    expect((await press(link, { answer: 'deny' })).status).toBe(200);
  });

  it('is none when it was tampered with, or is something else', async () => {
    const asked = await asking();
    const link = await linkOf(asked);
    const [head, claims = '', signature] = link.split('.');
    const widened = JSON.parse(Buffer.from(claims, 'base64url').toString()) as object;
    const forged = Buffer.from(JSON.stringify({ ...widened, tenant: 'local' })).toString('base64url');
    const token = (await at.request('POST', `/v1/threads/${asked.thread}/tokens`, { can: ['answer'] })).json.token;
    const wrong = [`${link}x`, link.slice(0, -1), `${head}.${forged}.${signature}`, '/answer/x', `/answer/${token}`];
    for (const each of wrong)
      for (const answer of [await open(each), await press(each, { answer: 'allow' })]) expect(answer.status).toBe(404);
    expect(await settledIn(asked.thread)).toEqual([]);
    const rebound = await new Promise<number | undefined>((resolve, reject) => {
      const sent = get(`${at.url}${link}`, { headers: { host: 'evil.example' } }, ({ statusCode }) =>
        resolve(statusCode),
      );
      sent.once('error', reject);
    });
    expect(rebound).toBe(403);
  });

  it('is made by a key that may answer, for an approval of its own tenant', async () => {
    const asked = await asking();
    const path = `/v1/choices/${asked.choice}/links`;
    const body = { for: 'ann', ttl_s: 60 };
    const key = async (scopes: readonly string[]): Promise<string> =>
      (await at.request('POST', '/v1/api-keys', { name: 'k', scopes })).json.key;
    const reader = await at.request('POST', path, body, { key: await key(['read', 'threads:write']) });
    expect([reader.status, reader.json.detail]).toEqual([403, expect.stringContaining('approvals:write')]);
    expect((await at.request('POST', path, body, { key: await key(['approvals:write']) })).status).toBe(201);
    const other = await tenantOf(root, 'other-team');
    expect((await other.request('POST', path, body)).status).toBe(404);
    for (const wrong of [
      ...[{ ttl_s: 60 }, { for: '', ttl_s: 60 }, { for: 'ann', ttl_s: 0 }, { for: 'ann', ttl_s: 2_592_001 }],
      ...[
        { ...body, can: [] },
        { ...body, can: ['allow', 'allow'] },
        { ...body, can: ['dismiss'] },
        { ...body, x: 1 },
      ],
    ])
      expect((await at.request('POST', path, wrong)).status).toBe(422);
    const token = (await at.request('POST', `/v1/threads/${asked.thread}/tokens`, { can: ['answer'] })).json.token;
    expect((await at.request('POST', path, body, { key: token })).status).toBe(403);
  });

  it('answers no question of a tool', async () => {
    const thread = await openThread(root);
    const { waiting_on: waitingOn } = await say(root, thread, 'Deploy the service "api" to production.');
    const answer = await root.request('POST', `/v1/choices/${waitingOn[0].id}/links`, { for: 'ann', ttl_s: 60 });
    expect([answer.status, answer.json.code]).toEqual([422, 'INVALID_BODY']);
  });

  it('is in the audit, and its token in no log', async () => {
    const asked = await asking();
    const made = await at.request('POST', `/v1/choices/${asked.choice}/links`, { for: 'ann', ttl_s: 60 });
    const link = new URL(made.json.url).pathname;
    await open(link);
    await press(link, { answer: 'allow' });
    const rows = (await at.request('GET', '/v1/audit?limit=200')).json.data as readonly Json[];
    expect(rows).toContainEqual(expect.objectContaining({ action: 'link.created', target: made.json.id }));
    expect(rows).toContainEqual(
      expect.objectContaining({ action: 'choice.allowed', target: asked.choice, actor: `link:${made.json.id}` }),
    );
    const token = link.split('/').at(-1) ?? '';
    expect(JSON.stringify(rows)).not.toContain(token);
    expect(at.output()).not.toContain(token);
  });

  it('of a suspended tenant is 403, and works when the tenant is resumed', async () => {
    const own = await tenantOf(root, 'sleeping-team');
    const server = await driveToolServer(own);
    const asked = await asking({ what: 'all' }, own, server);
    const link = await linkOf(asked, {}, own);
    const become = (state: string): Promise<Answer> =>
      root.request('PATCH', '/v1/tenants/sleeping-team', { state }, { key: platformKey });
    await become('suspended');
    await eventually(async () => (await open(link)).status === 403);
    expect((await press(link, { answer: 'allow' })).status).toBe(403);
    await become('active');
    await eventually(async () => (await open(link)).status === 200);
    expect((await press(link, { answer: 'allow' })).status).toBe(200);
    expect((await server.invocation(0)).arguments).toEqual({ what: 'all' });
    await server.close();
  });

  it('shows hostile text as text', async () => {
    const pageOf = async (text: string): Promise<string> => {
      const answer = await open(await linkOf(await asking({ what: text, [text]: [text] }), { for: text }));
      expect(answer.status).toBe(200);
      return answer.text;
    };
    const plain = markupOf(await pageOf('plain'));
    expect(plain.length).toBeGreaterThan(20);
    for (const text of hostile) expect(markupOf(await pageOf(text))).toEqual(plain);
    const unseen = await pageOf('west\u202Etsae\u2066\u200B');
    expect(unseen).toContain('west[U+202E]tsae[U+2066][U+200B]');
    expect(unseen).toContain('/what holds the invisible character U+202E');
    expect(unseen).not.toMatch(/[\u202A-\u202E\u2066-\u2069\u200B]/u);
  });
});

const hostile: readonly string[] = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "'><svg/onload=alert(1)>",
  '</pre></main><form action="https://evil.example"><button name="answer" value="allow">Deny</button>',
  '</textarea><script>1</script>',
  '<!--<img src="--><img src=x onerror=alert(1)//">',
  '&lt;script&gt;&#60;script&#62;',
  '${alert(1)}{{constructor.constructor("alert(1)")()}}',
  'javascript:alert(1)',
  '" autofocus onfocus=alert(1) x="',
];

/** The tags of a page, with their attributes. */
const markupOf = (page: string): readonly string[] => page.match(/<[^>]*>/g) ?? [];
