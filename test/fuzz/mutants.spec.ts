// The fuzzer is seen red: servers that are broken on purpose, one at a time.
import { afterAll, expect, it } from 'vitest';
import { cleanUp, scratchDirectory, startStandalone } from '../e2e/standalone-process.ts';
import { mutants } from './mutants.ts';
import { gaugedFrom } from './process-gauge.ts';
import { type FuzzReport, fuzzedSettings, runFuzz } from './run-fuzz.ts';

afterAll(cleanUp);

const preload = new URL('mutant-preload.ts', import.meta.url).href;
const platformKey = 'platform-key-of-the-specs';

it.each(Object.keys(mutants))('finds that %s', async (name) => {
  const gauges = await scratchDirectory();
  const { NODE_OPTIONS = '', ...gauged } = gaugedFrom(gauges);
  const settings = { ...fuzzedSettings, ...gauged, DORMOUSE_PLATFORM_KEY: platformKey, FUZZ_MUTANT: name };
  const env = { ...settings, NODE_OPTIONS: `${NODE_OPTIONS} --import ${preload}` };
  const system = await startStandalone({ args: ['--no-example-tools'], env });
  const order = { seed: 7, from: 0, ms: 300_000, roundsMax: 5, findingsMax: 1, say: () => {} };
  const found = await runFuzz({ system, platformKey, gauges }, order).then(wordsOf, String);
  expect(found).toMatch(mutants[name]?.found ?? /^$/);
});

const wordsOf = ({ findings }: FuzzReport): string => findings.map(({ wrong }) => wrong).join('\n');
