// Half a minute of load with a collector that is away, slow and failing: no turn fails, the log says it once a minute,
// and the spans are counted. What it costs is measured for ten minutes in test/long.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openRig, type Rig } from '../../bench/src/bench-rig.ts';
import { underBadCollector } from './bad-collector.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await openRig(() => {});
});
afterAll(() => rig.close(false));

it('half a minute of load with a collector that is bad', async () => {
  const found = await underBadCollector(rig, { warmSeconds: 5, seconds: 30 });
  expect(found.turns).toBeGreaterThan(0);
  expect(found.droppedBesides).toBe(0);
  // A third of the time it is slow, and gets some.
  expect(found.dropped).toBeGreaterThan(found.turns);
  expect(found.warnings).toBeGreaterThanOrEqual(1);
  expect(found.warnings).toBeLessThanOrEqual(2);
});
