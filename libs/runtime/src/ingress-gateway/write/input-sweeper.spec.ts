import { createManualClock, createMemoryWorld, type MemoryPorts } from '@dormouse/adapter-memory';
import { Fault, type ThreadKey, tenantId } from '@dormouse/ports';
import { text } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { createInputSweeper } from './input-sweeper.ts';

const key: ThreadKey = { tenant: tenantId('acme'), thread: 'thr_1' };

async function rig() {
  const clock = createManualClock();
  const ports = createMemoryWorld({ clock }).ports('p1');
  const published: string[] = [];
  const bus = { isAway: false, silentFor: '' };
  const failed: unknown[] = [];
  const inputs: Pick<MemoryPorts['inputs'], 'publish' | 'consume'> = {
    consume: (consumer) => ports.inputs.consume(consumer),
    publish: async ({ thread }, { id }) => {
      if (bus.isAway) throw new Fault('UNAVAILABLE', 'away');
      published.push(`${thread} ${id}`);
      if (thread === bus.silentFor) await new Promise(() => {});
    },
  };
  for (const id of ['a', 'b'])
    await ports.parked.add(key, { kind: 'UserMessage', id, messageId: id, content: [text(id)] }, null, 0);
  await ports.parked.park(key, 'why', 1);
  const { directory, parked } = ports;
  const sweeper = createInputSweeper({ directory, parked, bus: inputs, clock, failed: (fault) => failed.push(fault) });
  await sweeper.start();
  await clock.advance(60_000);
  return { clock, parked, published, bus, failed, sweeper };
}

describe('the sweep of parked threads', () => {
  it('Z2 leaves them alone until an operator wants one to go on; then wakes it until it has gone on', async () => {
    const { clock, parked, published } = await rig();
    expect(published).toEqual([]);
    await parked.replay(key);
    await clock.advance(30_000);
    expect(published).toEqual(['thr_1 w:replay', 'thr_1 w:replay']);
    for (const id of ['a', 'b']) await parked.remove(key, id);
    await parked.unpark(key);
    await clock.advance(60_000);
    expect(published).toHaveLength(2);
  });

  it('waits for a wake that the bus has not answered, and holds up no other thread meanwhile', async () => {
    const { clock, parked, published, bus } = await rig();
    const other = { tenant: tenantId('acme'), thread: 'thr_2' };
    await parked.add(other, { kind: 'UserMessage', id: 'x', messageId: 'x', content: [text('x')] }, null, 0);
    await parked.park(other, 'why', 2);
    bus.silentFor = 'thr_1';
    await parked.replay(key);
    await parked.replay(other);
    await clock.advance(30_000);
    expect(published).toEqual(['thr_1 w:replay', 'thr_2 w:replay', 'thr_2 w:replay']);
  });

  it('tries again when the bus is away', async () => {
    const { clock, parked, published, bus, failed } = await rig();
    bus.isAway = true;
    await parked.replay(key);
    await clock.advance(15_000);
    expect(failed).toHaveLength(1);
    bus.isAway = false;
    await clock.advance(15_000);
    expect(published).toEqual(['thr_1 w:replay']);
  });
});
