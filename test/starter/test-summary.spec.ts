// The reporter that counts for `npm test`, on a folder of its own.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const reporter = fileURLToPath(new URL('../../tools/test-summary.mjs', import.meta.url));
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dormouse-summary-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('names each test that failed with the first lines of its error, and files that did not load or failed outside a test', () => {
  const counted = summaryOf({
    'mixed.spec.js': `it('a', () => {}); it('b', () => { throw new Error('one\\ntwo\\nthree\\nfour') }); it('c', () => {});`,
    'broken.spec.js': `import './not-there.js'; it('never', () => {});`,
    'hook.spec.js': `afterAll(() => { throw new Error('after') }); it('d', () => {});`,
  });
  expect(counted).toMatchObject({ passed: 3, skipped: [] });
  expect(counted.failed.sort((a, b) => a.name.localeCompare(b.name))).toEqual([
    { name: 'broken.spec.js', reason: expect.stringContaining('./not-there.js') },
    { name: 'hook.spec.js', reason: 'after' },
    { name: 'mixed.spec.js > b', reason: 'one\n  two\n  three' },
  ]);
});

it('names an error that no test owns', () => {
  const counted = summaryOf({ 'late.spec.js': `it('a', () => { void Promise.reject(new Error('loose')) });` });
  expect(counted).toMatchObject({
    passed: 1,
    failed: [{ name: 'an error outside every test', reason: 'loose' }],
    skipped: [],
  });
});

it('says how long each file took', () => {
  const { files } = summaryOf({
    'slow.spec.js': `it('a', () => new Promise((resolve) => setTimeout(resolve, 200)));`,
    'fast.spec.js': `it('b', () => {});`,
  });
  expect(files.map(({ file }) => file).sort()).toEqual(['fast.spec.js', 'slow.spec.js']);
  expect(files.find(({ file }) => file === 'slow.spec.js')?.ms).toBeGreaterThanOrEqual(190);
});

it('names each skipped test with its reason', () => {
  const counted = summaryOf({
    'skipped.spec.js': `describe('Kafka', () => { it('a', (context) => context.skip('no broker here')); it.skip('b', () => {}); });`,
  });
  expect(counted).toMatchObject({
    passed: 0,
    failed: [],
    skipped: [
      { name: 'skipped.spec.js > Kafka > a', reason: 'no broker here' },
      { name: 'skipped.spec.js > Kafka > b', reason: 'no reason given, mode skip' },
    ],
  });
});

interface Summary {
  passed: number;
  failed: { name: string; reason: string }[];
  skipped: { name: string; reason: string }[];
  files: { file: string; ms: number }[];
}

function summaryOf(files: Record<string, string>): Summary {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const summary = join(folder, 'summary.json');
  spawnSync(process.execPath, [vitest, 'run', '--globals', '--root', folder, `--reporter=${reporter}`], {
    cwd: folder,
    env: { ...process.env, DORMOUSE_TEST_SUMMARY: summary },
  });
  return JSON.parse(readFileSync(summary, 'utf8')) as Summary;
}
