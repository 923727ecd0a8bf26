import type { DispatchOutcome } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import {
  type Actor,
  calls,
  inTurn,
  invoked,
  key,
  message,
  newRow,
  opened,
  result,
  says,
  type Rig,
} from '../../thread-processor/spec/processor-rig.ts';
import { createReconcileApi, type ReconcilePage } from './reconcile.ts';

const minuteMs = 60_000;
const first = { limit: 50, cursor: null };

async function withOpenCall(): Promise<{ readonly rig: Rig; readonly actor: Actor }> {
  const { rig, actor } = await opened({ topology: 'durable', play: inTurn(calls('weather', '{}'), says('sunny')) });
  await actor.ports.directory.insert(newRow);
  await actor.ports.inputs.publish(key, message('m1'));
  await rig.clock.advance(2 * minuteMs);
  return { rig, actor };
}

function reconcile({ rig, actor }: { readonly rig: Rig; readonly actor: Actor }, pay: boolean, olderThanMs = minuteMs) {
  const api = createReconcileApi({ ...actor.ports, bus: actor.ports.inputs, clock: rig.clock });
  return api.page(key.tenant, { olderThanMs, pay }, first);
}

const owedBy = ({ data }: ReconcilePage): object =>
  Object.fromEntries(data.flatMap(({ owed }) => Object.entries(owed).filter(([, count]) => count > 0)));
const invocations = (rig: Rig): number => rig.dispatched.filter((effect) => effect.do === 'InvokeTool').length;

describe('what commits owe and nothing answers', () => {
  it('C1 is a call without an outcome in the ledger; without `pay` nothing changes', async () => {
    const at = await withOpenCall();
    const found = await reconcile(at, false);
    expect([owedBy(found), found.threads, found.paid]).toEqual([{ calls: 1 }, 1, false]);
    await at.rig.clock.advance(minuteMs);
    expect(invocations(at.rig)).toBe(1);
  });

  it('C3 is paid again by the owner, though it has paid it before, under the same id', async () => {
    const at = await withOpenCall();
    expect(owedBy(await reconcile(at, true))).toEqual({ calls: 1 });
    await at.rig.clock.advance(1_000);
    const ids = at.rig.dispatched.flatMap((effect) => (effect.do === 'InvokeTool' ? [effect.toolCallId] : []));
    expect(ids).toEqual([invoked(at.rig), invoked(at.rig)]);
    await at.actor.ports.inputs.publish(key, result(invoked(at.rig)));
    await at.rig.clock.advance(1_000);
    expect(at.rig.told().at(-1)).toBe('CompletionRecorded');
    expect(owedBy(await reconcile(at, false, 0))).toEqual({});
  });

  it.each<[DispatchOutcome, object]>([
    ['sent', {}],
    ['exhausted', { calls: 1 }],
  ])('C1 a call with the outcome %s owes %j', async (outcome, expected) => {
    const at = await withOpenCall();
    await at.actor.ports.ledger.settle(key, invoked(at.rig), outcome, null);
    expect(owedBy(await reconcile(at, false))).toEqual(expected);
  });

  it('C2 is nothing that is younger', async () => {
    const at = await withOpenCall();
    expect(owedBy(await reconcile(at, false, 3 * minuteMs))).toEqual({});
  });

  it('is a completion that the thread waits for, and asking its owner again starts no second one', async () => {
    const { rig, actor } = await opened({
      topology: 'durable',
      play: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }),
    });
    await actor.ports.directory.insert(newRow);
    await actor.ports.inputs.publish(key, message('m1'));
    await rig.clock.advance(1_000);
    expect(owedBy(await reconcile({ rig, actor }, true, 0))).toEqual({ completions: 1 });
    await rig.clock.advance(1_000);
    expect(rig.asked).toHaveLength(1);
  });

  it('is nothing of a parked thread: its operator decides', async () => {
    const at = await withOpenCall();
    const { directory } = at.actor.ports;
    await directory.project([{ ...newRow, status: 'parked', position: 1_000, updatedAt: 1 }]);
    expect(owedBy(await reconcile(at, false))).toEqual({});
  });
});
