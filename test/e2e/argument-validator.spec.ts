// Untrusted schemas, judged by the real worker thread: with any of them, the process continues.
import { createArgumentValidator } from '@dormouse/host';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { slownessOfMachine } from '../machine-pace.ts';

const logger = { info: () => {}, warn: () => {}, error: () => {} };
const validator = createArgumentValidator(logger);
// The worker thread has started before anything is measured.
beforeAll(() => judge({ type: 'object', properties: { a: { pattern: 'a' } } }, { a: 'a' }));
afterAll(() => validator.close());

const judge = (
  inputSchema: Readonly<Record<string, unknown>>,
  value: Readonly<Record<string, unknown>>,
): Promise<string | null> => validator.validate({ name: 't', description: '', inputSchema }, value);

/** The longest time that the process was blocked while `act` ran. */
async function longestPauseMs(act: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  const beat = setInterval(() => {
    longest = Math.max(longest, performance.now() - last - 5);
    last = performance.now();
  }, 5);
  await act();
  clearInterval(beat);
  return Math.max(longest, performance.now() - last - 5); // also when there was no beat at all
}

const evil = 'a'.repeat(40) + '!';
/** Each of many alternatives is compared with each of many items. */
const manyTimesMany = (alternative: unknown): Readonly<Record<string, unknown>> => ({
  properties: { a: { type: 'array', items: { anyOf: Array.from({ length: 1_500 }, () => alternative) } } },
});
const many = Array.from({ length: 4_000 }, () => 1);
const doubling = Object.fromEntries(
  Array.from({ length: 40 }, (_, index) => [
    `d${index}`,
    { allOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] },
  ]),
);

describe('R8 hostile schemas', () => {
  it('finds what is wrong, with a schema that is quick to judge and with one that is not', async () => {
    expect(await judge({ type: 'object' }, { a: 'a' })).toBeNull();
    expect(await judge({ type: 'object', properties: { a: { type: 'number' } } }, { a: 'a' })).toContain('/a');
    expect(await judge({ type: 'object', properties: { a: { pattern: 'b' } } }, { a: 'a' })).toContain('/a');
  });

  it.each<[string, Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>]>([
    ['a pattern that backtracks for ever', { properties: { a: { pattern: '^(a|a)*$' } } }, { a: evil }],
    ['references that double', { $ref: '#/$defs/d0', $defs: { ...doubling, d40: { type: 'object' } } }, {}],
    ['a reference to itself', { $ref: '#' }, {}],
    ['many alternatives for many items', manyTimesMany({ type: 'string' }), { a: many }],
    ['many alternatives that fit, for many items', manyTimesMany({}), { a: many }],
  ])('%s: the process goes on and the call is not stopped', async (_, schema, value) => {
    let problem: string | null = 'not judged';
    const pauseMs = await longestPauseMs(async () => (problem = await judge(schema, value)));
    expect(problem).toBeNull();
    expect(pauseMs).toBeLessThan(250 * slownessOfMachine());
  });

  it('those that wait behind hostile ones are judged, each by its own schema', async () => {
    const hostile = ['^(a|a)*$', '^(a|aa)*$', '^(a+)+$'].map((pattern) => ({ properties: { a: { pattern } } }));
    const decent = { properties: { when: { type: 'string', pattern: '^\\d+$' } } };
    const problems = await Promise.all(
      Array.from({ length: 6 }, (_, index) => [
        judge(hostile[index % 3] ?? {}, { a: evil }),
        judge(decent, { when: index % 2 === 0 ? 'x' : '12' }),
      ]).flat(),
    );
    expect(problems.filter((_, index) => index % 2 === 0)).toEqual(Array.from({ length: 6 }, () => null));
    const ofDecent = problems.filter((_, index) => index % 2 === 1);
    for (const [index, problem] of ofDecent.entries())
      if (index % 2 === 0) expect(problem).toMatch(/\/when/);
      else expect(problem).toBeNull();
  });

  it('a schema that was given up waits behind all others', async () => {
    const order: string[] = [];
    const hostile = { properties: { b: { pattern: '^(a|a)*b$' } } };
    await judge(hostile, { b: evil });
    const decent = { properties: { when: { type: 'string', pattern: '^\\d+$' } } };
    await Promise.all([
      judge({ properties: { c: { pattern: '^(a|a)*c$' } } }, { c: evil }), // the first is judged before anything waits
      ...Array.from({ length: 3 }, () => judge(hostile, { b: evil }).then(() => order.push('hostile'))),
      ...Array.from({ length: 3 }, () => judge(decent, { when: '12' }).then(() => order.push('decent'))),
    ]);
    expect(order).toEqual(['decent', 'decent', 'decent', 'hostile', 'hostile', 'hostile']);
  });

  it('and the next call is judged as if nothing had been', async () => {
    const schema = { type: 'object', properties: { when: { type: 'string', pattern: '^\\d+$' } }, required: ['when'] };
    expect(await judge(schema, { when: '12' })).toBeNull();
    expect(await judge(schema, { when: 'x' })).toMatch(/\/when/);
    expect(await judge(schema, {})).toMatch(/"when"/);
  });
});
