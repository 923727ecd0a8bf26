import { tenantId, type TenantId } from '@dormouse/thread';
import { expect, it } from 'vitest';
import type { WorkTopics } from './work-bus.ts';
import { createWorkPlaces } from './work-places.ts';

const dispatchOf = (tenant: TenantId, toolServer: string): WorkTopics['dispatches'] => ({
  ...{ tenant, thread: 'thr_1', at: 1, trace: null },
  effect: { do: 'InvokeTool', id: 'c', toolCallId: 'c', toolServer } as never,
});

it('L2 a tenant whose servers take nothing holds half; more is crowded, and that of others is handled as ever', async () => {
  const places = createWorkPlaces({ inFlightMax: 64, heldMax: 1_000 }, { weightOf: () => 1 });
  const hung = new Promise<void>(() => {});
  const seen = { begun: 0, refused: 0, others: 0 };
  const deliver = async (tenant: TenantId, nth: number): Promise<void> => {
    const held = places.hold(dispatchOf(tenant, `server-${nth % 50}`));
    await held.inPlace(async (place) => {
      if (tenant !== 'loud') seen.others += 1;
      else if (place.isCrowded) seen.refused += 1;
      else {
        seen.begun += 1;
        await place.releasedDuring(() => hung);
      }
    });
    held.leave();
  };
  const wave = async (count: number): Promise<void> => {
    for (let nth = 0; nth < count; nth += 1) void deliver(tenantId('loud'), nth);
    await new Promise((resolve) => setImmediate(resolve));
  };
  for (let nth = 0; nth < 20; nth += 1) await wave(100);
  expect(seen).toEqual({ begun: 500, refused: 1_500, others: 0 });
  expect(places.held).toBe(500);
  await Promise.all(Array.from({ length: 300 }, (_, nth) => deliver(tenantId('quiet'), nth)));
  expect(seen.others).toBe(300);
});

it('L2 what waits for a place counts: a tenant whose posts hang keeps no other from the bus', async () => {
  const places = createWorkPlaces({ inFlightMax: 16, heldMax: 1_000 }, { weightOf: () => 1 });
  const hung = new Promise<void>(() => {});
  let refused = 0;
  for (let nth = 0; nth < 5_000; nth += 1) {
    const held = places.hold(dispatchOf(tenantId('loud'), 'slow'));
    void held
      .inPlace(async ({ isCrowded }) => {
        if (!isCrowded) await hung;
        refused += 1;
      })
      .then(() => held.leave());
    if (nth % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await new Promise((resolve) => setImmediate(resolve));
  expect([refused, places.held]).toEqual([4_500, 500]);
  const quiet = places.hold(dispatchOf(tenantId('quiet'), 'quick'));
  expect(await quiet.inPlace(async ({ isCrowded }) => isCrowded)).toBe(false);
});
