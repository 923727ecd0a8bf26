// What thousands of completions hold that wait for a slot: their names, not their prompts. Judged by the heap that a
// processor gives back when it stops; what its stores keep stays.
import { tenantId } from '@dormouse/ports';
import v8 from 'node:v8';
import vm from 'node:vm';
import { expect, it } from 'vitest';
import { createRig, message, opening, type Play } from './spec/processor-rig.ts';

const threads = 1_000;
const wordsOf = (index: number): string => `${index} `.repeat(5_000);

const hangs: Play = async function* () {
  yield { part: 'text', text: 'I was about' };
  await new Promise(() => {});
};

function heapUsed(): number {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

it('a completion that waits for a slot holds a few kilobytes, however long its prompt is', async () => {
  const rig = createRig({ topology: 'durable', play: hangs });
  const settings = { completionsInFlightMax: 1, cacheBytesMax: 1_000 };
  const { ports, service } = await rig.processor('p1', { settings });
  for (let index = 0; index < threads; index++) {
    const key = { tenant: tenantId('acme'), thread: `t${index}` };
    const open = opening();
    if (open.kind !== 'ThreadOpening') throw new Error('not an opening');
    const { toolServers: _, ...agent } = open.agent;
    void ports.inputs.publish(key, { ...open, agent: { ...agent, toolServers: [] } });
    void ports.inputs.publish(key, message(`m${index}`, wordsOf(index)));
  }
  await rig.clock.advance(3_000);
  expect(rig.asked).toHaveLength(1);
  const waiting = heapUsed();
  const stopped = service.stop(10);
  await rig.clock.advance(5_000);
  await stopped;
  expect((waiting - heapUsed()) / threads).toBeLessThan(5_000);
});
