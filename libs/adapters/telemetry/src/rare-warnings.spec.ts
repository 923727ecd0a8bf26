import { expect, it } from 'vitest';
import { rareWarnings } from './rare-warnings.ts';

it('says the first of a minute, and how many came before', () => {
  const said: unknown[] = [];
  let now = 5;
  const log = { info: () => {}, error: () => {}, warn: (event: string, fields?: object) => said.push([event, fields]) };
  const warnings = rareWarnings(log, () => now);
  for (const at of [5, 6, 60_004, 60_005, 100_000]) {
    now = at;
    warnings.error(`failed at ${at}`);
  }
  warnings.debug('of no interest');
  expect(said).toEqual([
    ['telemetry_failed', { reason: 'failed at 5', before: 0 }],
    ['telemetry_failed', { reason: 'failed at 60005', before: 2 }],
  ]);
});
