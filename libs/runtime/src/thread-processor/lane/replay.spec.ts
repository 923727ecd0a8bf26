import { tenantId } from '@dormouse/ports';
import { text } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import type { Parking } from './parking.ts';
import { Replay } from './replay.ts';

const key = { tenant: tenantId('acme'), thread: 'thr_1' };

const parkedInput = (id: string) => ({
  input: { kind: 'UserMessage', id, messageId: id, content: [text(id)] } as const,
  trace: null,
  droppedAt: null,
});

/** A store that records what is removed, and how often there was something to forget. */
function rig() {
  const told: string[] = [];
  const calls = { handled: 0, failing: false, moreWaits: false };
  const parking: Pick<Parking, 'remove' | 'end'> = {
    remove: async (_, id) => {
      if (calls.failing) throw new Error('the store is away');
      told.push(`remove ${id}`);
    },
    end: async () => {
      told.push('end');
      return !calls.moreWaits;
    },
  };
  const replay = new Replay(key, () => {
    calls.handled += 1;
  });
  const items = (...ids: readonly string[]) => replay.begin(ids.map(parkedInput));
  const begin = (...ids: readonly string[]) => items(...ids).map(({ hold }) => hold);
  return { told, calls, replay, items, begin, forget: () => replay.forget(parking) };
}

describe('a replay', () => {
  it('Y1 Y2 keeps each row until what it led to is handled, and the mark until there is no row', async () => {
    const { told, calls, replay, begin, forget } = rig();
    const [first, second] = begin('a', 'b');
    second?.retain(); // what it led to
    first?.drop();
    second?.drop();
    await forget();
    expect(told).toEqual(['remove a']);
    expect([replay.hasHandled, calls.handled]).toEqual([false, 1]);
    second?.drop();
    expect([replay.hasHandled, calls.handled]).toEqual([true, 2]);
    await forget();
    expect(told).toEqual(['remove a', 'remove b', 'end']);
  });

  it('Y2 leaves the mark of a thread that was parked again, and forgets what is handled all the same', async () => {
    const { told, replay, begin, forget } = rig();
    const [first] = begin('a', 'b');
    replay.giveUp();
    first?.drop();
    await forget();
    expect(told).toEqual(['remove a']);
  });

  it('Y2 ends once: what is handled late belongs to a replay that is over', async () => {
    const { told, replay, begin, forget } = rig();
    const [late] = begin('a');
    replay.giveUp();
    const [again] = begin('a'); // parked and replayed again, before what it had led to was handled
    again?.drop();
    await forget();
    late?.drop();
    await forget();
    expect(told).toEqual(['remove a', 'end', 'remove a']);
  });

  it('keeps the row of what was put aside again, each time that it is', async () => {
    const { told, replay, items, forget } = rig();
    const [first] = items('a');
    replay.giveUp();
    const [second] = items('a'); // requested again while the first one still waited to be put aside
    replay.giveUp();
    for (const item of [second, first]) {
      for (const row of item?.parkedRows ?? []) row.putBack();
      item?.hold.drop();
    }
    await forget();
    expect([told, replay.hasHandled]).toEqual([[], false]);
  });

  it('goes on where it was when the store comes back', async () => {
    const { told, calls, begin, forget } = rig();
    for (const hold of begin('a', 'b')) hold.drop();
    calls.failing = true;
    await expect(forget()).rejects.toThrow('away');
    calls.failing = false;
    await forget();
    expect(told).toEqual(['remove a', 'remove b', 'end']);
  });

  it('says so when more waits than it knows of', async () => {
    const { calls, begin, forget } = rig();
    const [first, second] = begin('a', 'b');
    first?.drop();
    expect(await forget()).toBe(true); // it goes on
    calls.moreWaits = true;
    second?.drop();
    expect(await forget()).toBe(false);
    expect(await forget()).toBe(true);
  });
});
