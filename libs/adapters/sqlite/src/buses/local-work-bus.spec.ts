import { type TenantId, tenantId, type WorkTopics } from '@dormouse/ports';
import { expect, it } from 'vitest';
import { createLocalWorkBus } from './local-work-bus.ts';
import { systemClock } from '../file/system-clock.ts';

const dispatchOf = (id: string): WorkTopics['dispatches'] => ({
  tenant: tenantId('acme'),
  thread: 'thr_1',
  at: 1,
  trace: null,
  effect: { do: 'WithdrawCall', id, toolCallId: id },
});

it('K2 W3 calls that wait for a server that is away hold no place: a healthy server is called before they are done', async () => {
  const limits = { inFlightMax: 8, queuedMax: 5_000, backoffMsFirst: 1, backoffMsMax: 1 };
  const work = createLocalWorkBus({ clock: systemClock, ...limits });
  const away = Promise.withResolvers<void>();
  const posts: string[] = [];
  await work.consume('dispatches', async ({ effect }, place) => {
    posts.push(effect.id);
    if (effect.id.startsWith('dead')) await place.releasedDuring(() => away.promise);
  });
  const callOf = (toolServer: string, id: string): WorkTopics['dispatches'] => ({
    ...dispatchOf(id),
    effect: { do: 'InvokeTool', id, toolCallId: id, toolServer } as never,
  });
  for (let nth = 0; nth < 1_152; nth += 1) await work.publish('dispatches', callOf('dead', `dead-${nth}`));
  const { handled } = await work.publish('dispatches', callOf('healthy', 'healthy'));
  await handled;
  expect(posts).toHaveLength(1_153);
  away.resolve();
});

it('W4 a tenant whose calls wait for hours does not keep those of others from the bus', async () => {
  const limits = { inFlightMax: 16, queuedMax: 200, backoffMsFirst: 1, backoffMsMax: 1 };
  const work = createLocalWorkBus({ clock: systemClock, ...limits });
  const seen = { waiting: 0, refused: 0, quiet: 0 };
  await work.consume('dispatches', async ({ tenant }, place) => {
    if (tenant === 'quiet') seen.quiet += 1;
    else if (place.isCrowded) seen.refused += 1;
    else {
      seen.waiting += 1;
      await place.releasedDuring(() => new Promise<void>(() => {}));
    }
  });
  const callOf = (tenant: TenantId, nth: number): WorkTopics['dispatches'] => ({
    ...dispatchOf(`${tenant}-${nth}`),
    tenant,
    effect: { do: 'InvokeTool', id: `${nth}`, toolCallId: `${nth}`, toolServer: `server-${nth % 30}` } as never,
  });
  for (let nth = 0; nth < 1_000; nth += 1) {
    await work.publish('dispatches', callOf(tenantId('loud'), nth));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await expect.poll(() => [seen.waiting, seen.refused]).toEqual([100, 900]);
  const quiet = Array.from({ length: 50 }, (_, nth) => work.publish('dispatches', callOf(tenantId('quiet'), nth)));
  for (const { handled } of await Promise.all(quiet)) await handled;
  expect(seen.quiet).toBe(50);
});
