import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createSharedRoom } from './shared-room.ts';

/** Takes room for the owner while it has any. */
function fill(room: ReturnType<typeof createSharedRoom>, owner: string): number {
  let entered = 0;
  for (; room.hasRoom(owner); entered += 1) room.enter(owner);
  return entered;
}

it('S2 one owner takes half, the next a quarter, and there is room for one more', () => {
  const room = createSharedRoom(1_000);
  expect(['a', 'b', 'c'].map((owner) => fill(room, owner))).toEqual([500, 250, 125]);
  expect([room.taken, room.hasRoom('d'), room.hasRoom('a')]).toEqual([875, true, false]);
});

it('S1 S2 whatever comes and goes: an owner with nothing inside has room, as long as some is left', () => {
  const owners = ['a', 'b', 'c', 'd'] as const;
  const step = fc.record({ owner: fc.constantFrom(...owners), leaves: fc.boolean() });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.array(step, { maxLength: 200 }), (max, steps) => {
      const room = createSharedRoom(max);
      const inside = new Map<string, number>(owners.map((owner) => [owner, 0]));
      for (const { owner, leaves } of steps) {
        const own = inside.get(owner) ?? 0;
        if (leaves && own > 0) {
          room.leave(owner);
          inside.set(owner, own - 1);
        } else if (room.hasRoom(owner)) {
          room.enter(owner);
          inside.set(owner, own + 1);
        }
        const taken = [...inside.values()].reduce((sum, each) => sum + each, 0);
        expect(room.taken).toBe(taken);
        expect(taken).toBeLessThanOrEqual(max);
        for (const each of owners) if (inside.get(each) === 0) expect(room.hasRoom(each)).toBe(taken < max);
      }
    }),
  );
});
