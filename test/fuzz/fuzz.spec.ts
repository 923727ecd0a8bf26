// The short form of `npm run fuzz`: the same on every machine. Standalone, and in the tier with real servers as a
// cluster.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { System } from '../e2e/conversation.ts';
import { scratchDirectory } from '../e2e/standalone-process.ts';
import { endSystems, startSystem } from '../e2e/system.ts';
import { gaugedFrom } from './process-gauge.ts';
import { casesPerRound, fuzzedSettings, runFuzz } from './run-fuzz.ts';

const seed = 7;
const ms = 20_000;
const platformKey = 'platform-key-of-the-specs';
let gauges: string;
let system: System;
beforeAll(async () => {
  gauges = await scratchDirectory();
  const settings = { ...fuzzedSettings, ...gaugedFrom(gauges), DORMOUSE_PLATFORM_KEY: platformKey };
  system = await startSystem(settings);
});
afterAll(endSystems);

it(`is answered without a fault of ours, reaches no other thread, and leaves nothing behind: seed ${seed}`, async () => {
  const order = { seed, from: 0, ms, roundsMax: 1_000, findingsMax: 20, say: () => {} };
  const report = await runFuzz({ system, platformKey, gauges }, order);
  const again = `npm run fuzz -- --seed ${seed} --from ROUND --rounds 1`;
  expect(report.findings, again).toEqual([]);
  // What never gets past the door proves nothing about what is behind it.
  expect(report.cases).toBeGreaterThanOrEqual(casesPerRound);
  expect(report.reached.length).toBeGreaterThan(12);
  expect(Object.keys(report.statuses)).toEqual(expect.arrayContaining(['200', '400', '401', '403', '404', '422']));
});
