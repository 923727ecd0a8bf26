import { expect, it } from 'vitest';
import { createClient } from '../client.ts';
import { threadStoreOf } from './thread-store.ts';

const choice = {
  id: 'chc_1',
  kind: 'approval',
  tool_call_id: 'call_1',
  prompt: 'Allow?',
  arguments_hash: 'a'.repeat(64),
};

/** An API that asks for one approval; what it was asked, and how many streams are open. */
function asking() {
  const posted: { readonly path: string; readonly body: unknown }[] = [];
  const at = { open: 0, opened: 0 };
  const json = (body: unknown, status = 200): Response =>
    new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
  const frames = `event: status\ndata: {"status":"waiting","waiting_on":[]}\n\nevent: choice\ndata: ${JSON.stringify(choice)}\n\n`;
  const fetch = (async (input: string | Request, init: RequestInit = {}) => {
    const { pathname } = new URL(typeof input === 'string' ? input : input.url);
    if (pathname.endsWith('/events')) {
      at.open += 1;
      at.opened += 1;
      return new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode(frames));
            init.signal?.addEventListener('abort', () => {
              at.open -= 1;
              controller.error(init.signal?.reason);
            });
          },
        }),
      );
    }
    if (typeof input !== 'string' && input.method === 'POST') {
      posted.push({ path: pathname, body: await input.json() });
      return json({ id: 'req_1' }, 202);
    }
    return pathname.endsWith('/messages')
      ? json({ data: [], next_cursor: null })
      : json({ position: 3, status: 'idle' });
  }) as typeof globalThis.fetch;
  return { client: createClient({ baseUrl: 'http://x', key: 'k', fetch }), posted, at };
}

const nothing = (): void => {};

it('T1: has one connection however many watch, through a remount, and none when the last has left', async () => {
  const { client, at } = asking();
  const store = threadStoreOf(client, 'thr_1');
  expect(threadStoreOf(client, 'thr_1')).toBe(store);
  const first = store.subscribe(nothing);
  first();
  const again = store.subscribe(nothing);
  const other = store.subscribe(nothing);
  await expect.poll(() => store.snapshot().connection).toBe('open');
  expect(at).toEqual({ open: 1, opened: 1 });
  again();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(at.open).toBe(1);
  other();
  await expect.poll(() => at.open).toBe(0);
  expect(threadStoreOf(client, 'thr_1')).not.toBe(store);
});

it('binds what is allowed to what was shown, and nothing else', async () => {
  const { client, posted } = asking();
  const store = threadStoreOf(client, 'thr_1');
  const leave = store.subscribe(nothing);
  await expect.poll(() => store.snapshot().choices.length).toBe(1);
  expect(await store.actions.answer('chc_1', { decision: 'allow' })).toBe(true);
  await expect.poll(() => store.snapshot().choices.length).toBe(0);
  expect(await store.actions.answer('chc_2', { selected: 1 })).toBe(true);
  expect(posted).toEqual([
    { path: '/v1/threads/thr_1/choices/chc_1', body: { decision: 'allow', arguments_hash: choice.arguments_hash } },
    { path: '/v1/threads/thr_1/choices/chc_2', body: { selected: 1 } },
  ]);
  leave();
});
