import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ExampleTools, type ExampleToolsOptions, startExampleTools } from '@dormouse/example-tools';
import type { Callback, ToolResult } from '@dormouse/protocol';
import { type CallbackSink, startSink } from './callback-sink.ts';

let sink: CallbackSink;
let tools: ExampleTools;
let dataDir: string;
beforeEach(async () => {
  sink = await startSink();
  dataDir = await mkdtemp(join(tmpdir(), 'example-tools-'));
  tools = await start();
});
afterEach(async () => {
  await tools.close();
  await sink.close();
  await rm(dataDir, { recursive: true, force: true });
});

const start = (more: Partial<ExampleToolsOptions> = {}): Promise<ExampleTools> =>
  startExampleTools({ port: 0, host: '127.0.0.1', dataDir, delivery: { firstPauseMs: 20 }, ...more });

let count = 0;
async function invoke(operation: string, given: object, groupId = 'thr_1'): Promise<string> {
  const id = `call_${(count += 1)}`;
  await post('/invoke', { operation, arguments: given, id, callback_url: `${sink.url}/c/${id}`, group_id: groupId });
  return id;
}

const post = async (path: string, body: unknown, headers: Record<string, string> = {}): Promise<number> =>
  (
    await fetch(`${tools.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  ).status;

async function resultOf(id: string): Promise<ToolResult> {
  for (let seen = 1; ; seen += 1) {
    const found = (await sink.until(seen)).find((each) => each.type === 'tool_result' && each.id === id);
    if (found?.type === 'tool_result') return found;
  }
}

async function nextOf<Type extends Callback['type']>(
  type: Type,
  after = 0,
): Promise<Extract<Callback, { type: Type }>> {
  const message = (await sink.until(after + 1))[after];
  expect(message?.type).toBe(type);
  return message as Extract<Callback, { type: Type }>;
}

const quiet = (ms = 80): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('watch_repository', () => {
  const announce = (
    payload: object,
    delivery: string,
    secret = tools.webhookSecret,
    event = 'issues',
  ): Promise<number> => {
    const body = JSON.stringify(payload);
    return post('/webhooks/repository', body, {
      'x-github-event': event,
      'x-github-delivery': delivery,
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    });
  };
  const opened = {
    action: 'opened',
    repository: { full_name: 'Acme/Api', private: true },
    issue: { number: 7, title: 'It rains in' },
    sender: { login: 'ann', email: 'ann@example.test' },
  };

  it('T28 T29 confirms, and tells each signed event that is watched for once, without what nobody needs', async () => {
    const id = await invoke('watch_repository', { repository: 'acme/api', events: ['issues'] });
    expect(await resultOf(id)).toMatchObject({
      subscription: true,
      text: `Watching acme/api for issues. Subscription ID: ${id}`,
    });
    expect(await announce(opened, 'd-1')).toBe(202);
    expect(await announce(opened, 'd-1')).toBe(202);
    expect(await announce(opened, 'd-2', tools.webhookSecret, 'push')).toBe(202);
    expect(await announce({ ...opened, repository: { full_name: 'acme/web' } }, 'd-3')).toBe(202);
    expect(await announce({ zen: 'ping' }, 'd-4')).toBe(202);
    const event = await nextOf('subscription_event', 1);
    expect(event).toMatchObject({ toolCallId: id, associative: false, final: false });
    expect(JSON.parse(event.text)).toEqual({
      event: 'issues',
      action: 'opened',
      repository: 'Acme/Api',
      number: 7,
      title: 'It rains in',
      by: 'ann',
    });
    await quiet();
    expect(sink.messages.length).toBe(2);
  });

  it('T31 an event that its source has not signed is ignored', async () => {
    await resultOf(await invoke('watch_repository', { repository: 'acme/api' }));
    expect(await announce(opened, 'd-1', 'guess')).toBe(401);
    expect(await post('/webhooks/repository', opened, { 'x-github-event': 'issues' })).toBe(401);
    await quiet();
    expect(sink.messages.length).toBe(1);
  });

  it('T26 T30 goes on after a restart, until it is cancelled', async () => {
    const id = await invoke('watch_repository', { repository: 'acme/api' });
    await resultOf(id);
    const secret = tools.webhookSecret;
    await tools.close();
    tools = await start();
    expect(tools.webhookSecret).toBe(secret);
    await announce(opened, 'd-1');
    await sink.until(2);
    await post('/cancel_tool_call', { thread_id: 'thr_1', tool_call_id: id });
    await announce(opened, 'd-2');
    await quiet();
    expect(sink.messages.length).toBe(2);
  });
});

describe('run_build', () => {
  it('T28 T30 streams its output into the thread that asked, and ends with a final event', async () => {
    const id = await invoke('run_build', { project: 'web', seconds: 0.1 });
    const messages = await sink.until(6);
    expect(messages[0]).toMatchObject({ type: 'tool_result', id, subscription: true });
    const events = messages.slice(1).filter((each) => each.type === 'subscription_event');
    expect(events.map((event) => event.final)).toEqual([false, false, false, false, true]);
    expect(events.every((event) => event.associative && event.toolCallId === id)).toBe(true);
    expect(events.at(-1)?.text).toBe('package web ... ok\n[exit code: 0]');
  });

  it('ends early when a rig is broken', async () => {
    await invoke('run_build', { seconds: 0, broken: true });
    const messages = await sink.until(5);
    expect(messages.at(-1)).toMatchObject({ final: true, text: expect.stringContaining('[exit code: 1]') });
  });

  it('T30 T37 stops when its thread closes', async () => {
    await resultOf(await invoke('run_build', { seconds: 10 }));
    await post('/close_thread', { thread_id: 'thr_1' });
    await quiet(2_500); // its first rig would have ended after two seconds
    expect(sink.messages.length).toBe(1);
  });
});

describe('deploy', () => {
  async function asked(groupId?: string): Promise<{ id: string; answer: (selected: number) => Promise<Response> }> {
    const before = sink.messages.length;
    const id = await invoke('deploy', { service: 'shop', environment: 'production' }, groupId);
    const question = await nextOf('user_choice', before);
    expect(question).toMatchObject({ id, prompt: 'May shop be deployed to production?', default: 2 });
    expect(question.choices.length).toBe(3);
    const answer = (selected: number): Promise<Response> =>
      fetch(question.responseUrl, { method: 'POST', body: JSON.stringify({ id, selected }) });
    return { id, answer };
  }

  it('T43 does what the person has chosen', async () => {
    const yes = await asked();
    await yes.answer(0);
    expect((await resultOf(yes.id)).text).toMatch(/^shop is deployed to production/);
    const no = await asked();
    await no.answer(2);
    expect((await resultOf(no.id)).text).toBe('shop was not deployed to production: a person decided against it.');
    const bad = await asked();
    await bad.answer(9);
    expect((await resultOf(bad.id)).text).toMatch(/^Error: /);
  });

  it('T43 does not ask again where it was allowed for the conversation', async () => {
    const always = await asked();
    await always.answer(1);
    await resultOf(always.id);
    const again = await invoke('deploy', { service: 'shop', environment: 'production' });
    expect((await resultOf(again)).text).toMatch(/^shop is deployed/);
    await asked('thr_2');
  });

  it('T26 T43 is asked once and waits for its person through a restart', async () => {
    const id = await invoke('deploy', { service: 'shop', environment: 'production' });
    const { responseUrl } = await nextOf('user_choice');
    await tools.close();
    tools = await start();
    expect(await post(new URL(responseUrl).pathname, { id, selected: 0 })).toBe(200);
    expect((await resultOf(id)).text).toMatch(/^shop is deployed to production/);
    expect(sink.messages.map(({ type }) => type)).toEqual(['user_choice', 'tool_result']);
  });
});

describe('connect_calendar', () => {
  /** A user in a browser: opens the page, follows one of its links, and is redirected. */
  async function visit(authUrl: string, decision: 'allow' | 'deny'): Promise<string> {
    const page = await (await fetch(authUrl)).text();
    const link = new RegExp(`href="([^"]+decision=${decision})"`).exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const answer = await fetch(new URL(link, tools.url), { redirect: 'manual' });
    expect(answer.status).toBe(302);
    return answer.headers.get('location') ?? '';
  }

  it('T41 asks for a login, and goes on when it is done', async () => {
    const id = await invoke('connect_calendar', {});
    const { authUrl } = await nextOf('oauth');
    expect(await (await fetch(await visit(authUrl, 'allow'))).text()).toContain('you are logged in');
    expect((await resultOf(id)).text).toContain('croquet');
    expect((await resultOf(await invoke('connect_calendar', {}))).text).toContain('croquet');
  });

  it('T41 ends in an error when the person denies', async () => {
    const id = await invoke('connect_calendar', {});
    await fetch(await visit((await nextOf('oauth')).authUrl, 'deny'));
    expect((await resultOf(id)).text).toMatch(/^Error: Toy Calendar: access was not granted/);
  });

  it('T41 a code that is replayed is refused, and takes its tokens with it', async () => {
    const first = await invoke('connect_calendar', {});
    const back = await visit((await nextOf('oauth')).authUrl, 'allow');
    await fetch(back);
    await resultOf(first);
    expect((await fetch(back)).status).toBe(400); // the state is used up
    const code = new URL(back).searchParams.get('code') ?? '';
    const form = {
      grant_type: 'authorization_code',
      client_id: 'example-tools',
      code,
      redirect_uri: `${tools.url}/oauth/callback`,
    };
    const replay = await fetch(`${tools.url}/toy/token`, { method: 'POST', body: new URLSearchParams(form) });
    expect([replay.status, await replay.json()]).toEqual([400, { error: 'invalid_grant' }]);
    await invoke('connect_calendar', {});
    await nextOf('oauth', 2);
  });

  it('T41 a code without its verifier, and a login for another address, are refused', async () => {
    await invoke('connect_calendar', {});
    const { authUrl } = await nextOf('oauth');
    const code = new URL(await visit(authUrl, 'allow')).searchParams.get('code') ?? '';
    const form = {
      grant_type: 'authorization_code',
      client_id: 'example-tools',
      code,
      redirect_uri: `${tools.url}/oauth/callback`,
    };
    const stolen = new URLSearchParams({ ...form, code_verifier: 'guess' });
    expect((await fetch(`${tools.url}/toy/token`, { method: 'POST', body: stolen })).status).toBe(400);
    const elsewhere = new URL(authUrl);
    elsewhere.searchParams.set('redirect_uri', 'https://evil.example.test/');
    expect((await fetch(elsewhere)).status).toBe(400);
  });

  it('is not offered where a login could be listened to', async () => {
    await tools.close();
    const { port } = new URL(tools.url); // free again
    tools = await start({ publicUrl: 'http://tools.example.test', port: Number(port) });
    const manifest = await (await fetch(`http://127.0.0.1:${port}/.well-known/rap-toolset`)).text();
    expect(manifest).toContain('http://tools.example.test/invoke');
    expect(manifest).not.toContain('connect_calendar');
  });
});

describe('draw', () => {
  it('T21 gives an image that can be decoded, with words for who cannot see it', async () => {
    const result = await resultOf(await invoke('draw', { shape: 'square', color: 'blue', size: 16 }));
    const [words, picture] = result.content ?? [];
    expect(words).toMatchObject({ type: 'text', text: expect.stringContaining('A blue square') });
    const png = Buffer.from(picture?.type === 'image' ? picture.data : '', 'base64');
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    const pixels = inflateSync(png.subarray(png.indexOf('IDAT') + 4, png.indexOf('IEND') - 8));
    expect(pixels.length).toBe(16 * (1 + 16 * 3));
    expect([...pixels.subarray(8 * 49 + 1 + 8 * 3, 8 * 49 + 1 + 9 * 3)]).toEqual([9, 86, 190]); // the middle
    expect(result.displayAs?.map((segment) => segment.type)).toEqual(['image', 'text']);
  });
});

describe('propose_change', () => {
  it('T21 T44 shows the difference to people and as a view, and clears the view when nothing is changed any more', async () => {
    const result = await resultOf(await invoke('propose_change', { find: 'buy tea', replace: 'buy coffee' }));
    const patch =
      '--- notes.md\n+++ notes.md\n@@ -1,5 +1,5 @@\n # Notes\n \n-- buy tea\n+- buy coffee\n - water the plants\n - call Alice\n';
    expect(result.text).toContain('- buy coffee');
    expect(result.displayAs).toEqual([
      { type: 'diff', content: { path: 'notes.md', patch } },
      { type: 'text', content: 'propose_change notes.md' },
    ]);
    expect(sink.messages[0]).toMatchObject({ type: 'view_update', viewType: 'diff', content: { patch } });
    await resultOf(await invoke('propose_change', { find: 'buy coffee', replace: 'buy tea' }));
    expect(sink.messages[2]).toMatchObject({ type: 'view_update', viewType: 'diff', content: {} });
  });

  it('T19 says what is wrong with a change that cannot be made', async () => {
    const error = async (given: object): Promise<string | undefined> =>
      (await resultOf(await invoke('propose_change', given))).text;
    expect(await error({ path: '../secret', find: 'a', replace: 'b' })).toMatch(/^Error: there is no file/);
    expect(await error({ find: 'zebra', replace: 'b' })).toMatch(/^Error: the text occurs 0 times/);
    expect(await error({ find: 'l', replace: 'b' })).toMatch(/^Error: the text occurs \d+ times/);
    expect(await error({ find: 'tea', replace: 'tea' })).toMatch(/^Error: that would change nothing/);
  });
});

describe('remind_me', () => {
  it('T30 wakes the thread once, and that is the end', async () => {
    const id = await invoke('remind_me', { seconds: 0.1, text: 'tea' });
    const event = await nextOf('subscription_event', 1);
    expect(event).toMatchObject({ toolCallId: id, associative: true, final: true });
    expect(JSON.parse(event.text)).toMatchObject({ reminder: 'tea' });
    await quiet();
    expect(sink.messages.length).toBe(2);
  });

  it('T26 is kept over a restart, also when its time has passed meanwhile', async () => {
    await resultOf(await invoke('remind_me', { seconds: 0.2, text: 'tea' }));
    await tools.close();
    await quiet(250);
    expect(sink.messages.length).toBe(1);
    tools = await start();
    expect(JSON.parse((await nextOf('subscription_event', 1)).text)).toMatchObject({ reminder: 'tea' });
  });

  it('T30 says nothing when it was cancelled', async () => {
    const id = await invoke('remind_me', { seconds: 0.1 });
    await resultOf(id);
    await post('/cancel_tool_call', { thread_id: 'thr_1', tool_call_id: id });
    await quiet(180);
    expect(sink.messages.length).toBe(1);
  });
});

describe('a signature', () => {
  it('T38 by Standard Webhooks is enough where it is set', async () => {
    await tools.close();
    tools = await start({ hmac: 'shared-key' });
    const body = '{"thread_id":"thr_1"}';
    const time = String(Math.floor(Date.now() / 1_000));
    const signature = createHmac('sha256', 'shared-key').update(`m1.${time}.${body}`).digest('base64');
    const headers = { 'webhook-id': 'm1', 'webhook-timestamp': time, 'webhook-signature': `v1,${signature}` };
    expect(await post('/close_thread', body)).toBe(401);
    expect(await post('/close_thread', body, headers)).toBe(200);
  });
});
