import { describe, expect, it } from 'vitest';
import { judgeCall } from './call-arguments.ts';

const problemOf = async (text: string): Promise<string | null> =>
  (await judgeCall({ providerCallId: 'p1', operation: 'work', arguments: text }, undefined, null)).problem;

describe('arguments of a call', () => {
  it('of 1 MiB pass, and a byte more is an error for the model, before anything is sent', async () => {
    const ofBytes = (bytes: number): string => JSON.stringify({ a: 'x'.repeat(bytes - '{"a":""}'.length) });
    expect(await problemOf(ofBytes(1_048_576))).toBeNull();
    expect(await problemOf(ofBytes(1_048_577))).toBe('arguments are larger than 1048576 bytes');
    expect(await problemOf(`{"a":"${'é'.repeat(524_288)}"}`)).toContain('larger');
  });

  it.each([
    ['a key twice', '{"a":1,"a":2}'],
    ['a prototype key', '{"a":{"__proto__":{}}}'],
    ['a lone surrogate', '{"a":"\\ud800"}'],
    ['too deep', `{"a":${'['.repeat(40)}${']'.repeat(40)}}`],
    ['a list', '[]'],
    ['half of an object', '{"a":'],
  ])('with %s are an error for the model', async (_what, text) => {
    expect(await problemOf(text)).toMatch(/^arguments/);
  });
});
