// Ten minutes of load with a collector that is away, slow and failing, beside a process whose collector is well.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openRig, type Rig } from '../../bench/src/bench-rig.ts';
import { median } from '../../bench/src/statistics.ts';
import { underBadCollector } from '../load/bad-collector.ts';

const minutes = 10;
/** The noise of two processes of one build. */
const ratioMin = 0.9;
const rssMibMoreMax = 20;

let rig: Rig;
beforeAll(async () => {
  rig = await openRig(() => {});
});
afterAll(() => rig.close(false));

it('ten minutes of load with a collector that is bad', async () => {
  const found = await underBadCollector(rig, { warmSeconds: 60, seconds: minutes * 60 });
  process.stdout.write(`${JSON.stringify({ ...found, ratios: median(found.ratios) })}\n`);
  expect(median(found.ratios)).toBeGreaterThan(ratioMin);
  expect(found.rssMibMore).toBeLessThan(rssMibMoreMax);
  expect(found.warnings).toBeGreaterThanOrEqual(1);
  expect(found.warnings).toBeLessThanOrEqual(minutes + 1);
  expect(found.dropped).toBeGreaterThan(found.turns);
  expect(found.droppedBesides).toBe(0);
});
