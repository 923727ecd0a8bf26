import { expect, it } from 'vitest';
import type { Dispatcher, Pool } from 'undici';
import { exchange } from './exchange.ts';

/** A pool that records the handlers; the spec calls them to answer a request. */
function begun(): { readonly handlers: Dispatcher.DispatchHandler[]; readonly pool: Pool } {
  const handlers: Dispatcher.DispatchHandler[] = [];
  const dispatch = (_: unknown, handler: Dispatcher.DispatchHandler): boolean => handlers.push(handler) > 0;
  return { handlers, pool: { dispatch } as unknown as Pool };
}

const post = { method: 'POST', path: '/', headers: [], body: '{}', timeoutMs: 1_000, keepBytesMax: 0 } as const;
const controller = {} as Dispatcher.DispatchController;

it('X4 answers of one turn of the event loop go on together', async () => {
  const { handlers, pool } = begun();
  const told: string[] = [];
  const all = ['first', 'second'].map((name) =>
    exchange(pool, { ...post, headers: [] }).then((outcome) => told.push(`${name} ${outcome.answered}`)),
  );
  handlers[0]?.onResponseStart?.(controller, 202, {});
  await new Promise<void>((resolve) => process.nextTick(resolve));
  expect(told).toEqual([]);
  handlers[1]?.onResponseStart?.(controller, 202, {});
  await Promise.all(all);
  expect(told).toEqual(['first true', 'second true']);
  for (const handler of handlers) handler.onResponseEnd?.(controller, {});
});

it('X2 a connection that breaks after the status does not take it back', async () => {
  const { handlers, pool } = begun();
  const outcome = exchange(pool, { ...post, headers: [] });
  handlers[0]?.onRequestStart?.(controller, null);
  handlers[0]?.onResponseStart?.(controller, 202, {});
  handlers[0]?.onResponseError?.(controller, new Error('reset'));
  expect(await outcome).toMatchObject({ answered: true, status: 202 });
});
