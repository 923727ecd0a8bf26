import { text } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { Hold } from './held-deliveries.ts';
import type { Parking } from './parking.ts';
import { Replay } from './replay.ts';

const key = { tenant: 'acme', thread: 'thr_1' };

const parkedInput = (id: string) => ({
  input: { kind: 'UserMessage', id, messageId: id, content: [text(id)] } as const,
  trace: null,
  droppedAt: null,
});

/** A store that is told what goes, a delivery that led to the replay, and how often there was something to forget. */
function stage() {
  const told: string[] = [];
  const calls = { handled: 0, failing: false };
  const parking: Pick<Parking, 'remove' | 'end'> = {
    remove: async (_, id) => {
      if (calls.failing) throw new Error('the store is away');
      told.push(`remove ${id}`);
    },
    end: async () => void told.push('end'),
  };
  const delivery = { ...key, what: 'recovery', from: 0, trace: null, decided: () => {} } as const;
  const cause = new Hold([{ ...delivery, release: () => void told.push('cause released') }]);
  const replay = new Replay(key, () => {
    calls.handled += 1;
  });
  const begin = (...ids: readonly string[]) => replay.begin(ids.map(parkedInput), cause).map(({ hold }) => hold);
  return { told, calls, cause, replay, begin, forget: () => replay.forget(parking) };
}

describe('a replay', () => {
  it('Y1 Y2 keeps each row until what it led to is handled, and its cause until there is no row', async () => {
    const { told, calls, cause, replay, begin, forget } = stage();
    const [first, second] = begin('a', 'b');
    cause.drop();
    second?.retain(); // what it led to
    first?.drop();
    second?.drop();
    await forget();
    expect(told).toEqual(['remove a']);
    expect([replay.keeps('a'), replay.keeps('b'), replay.hasHandled, calls.handled]).toEqual([false, true, false, 1]);
    second?.drop();
    expect([replay.hasHandled, calls.handled]).toEqual([true, 2]);
    await forget();
    expect(told).toEqual(['remove a', 'remove b', 'end', 'cause released']);
  });

  it('Y3 leaves the mark of a thread that was parked again, and forgets what is handled all the same', async () => {
    const { told, cause, replay, begin, forget } = stage();
    const [first] = begin('a', 'b');
    cause.drop();
    replay.giveUp();
    expect(told).toEqual(['cause released']);
    replay.putBack('b');
    first?.drop();
    await forget();
    expect(told).toEqual(['cause released', 'remove a']);
  });

  it('Y3 ends once: what is handled late belongs to a replay that is over', async () => {
    const { told, replay, begin, forget } = stage();
    const [late] = begin('a');
    replay.giveUp();
    const [again] = begin('a'); // parked and replayed again, before what it had led to was handled
    again?.drop();
    await forget();
    late?.drop();
    await forget();
    expect(told).toEqual(['remove a', 'end', 'remove a']);
  });

  it('keeps the row of what was put aside again', async () => {
    const { told, replay, begin, forget } = stage();
    const [first] = begin('a');
    replay.giveUp();
    replay.putBack('a');
    first?.drop();
    await forget();
    expect([told, replay.hasHandled, replay.keeps('a')]).toEqual([[], false, true]);
  });

  it('goes on where it was when the store comes back', async () => {
    const { told, calls, begin, forget } = stage();
    for (const hold of begin('a', 'b')) hold.drop();
    calls.failing = true;
    await expect(forget()).rejects.toThrow('away');
    calls.failing = false;
    await forget();
    expect(told).toEqual(['remove a', 'remove b', 'end']);
  });
});
