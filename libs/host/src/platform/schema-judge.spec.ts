import { describe, expect, it } from 'vitest';
import { judgeBySchema } from './schema-judge.ts';

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } },
  required: ['city'],
  additionalProperties: false,
};

describe('R8 arguments', () => {
  it.each([
    [{ city: 'Oslo' }, null],
    [{}, /"city"/],
    [{ city: 7 }, /\/city: .*"number".*"string"/],
    [{ city: 'Oslo', days: 0 }, /\/days: 0 is less than 1/],
    [{ city: 'Oslo', colour: 'red' }, /"colour"/],
  ])('%j', (value, words) => {
    const problem = judgeBySchema(schema, value);
    if (words === null) expect(problem).toBeNull();
    else expect(problem).toMatch(words);
  });

  it('R26 follow the draft that the schema names', () => {
    const tuple = { type: 'array', items: [{ type: 'string' }], additionalItems: false };
    expect(judgeBySchema({ $schema: 'http://json-schema.org/draft-07/schema#', ...tuple }, ['a', 'b'])).not.toBeNull();
    expect(
      judgeBySchema({ type: 'array', prefixItems: [{ type: 'string' }], items: false }, ['a', 'b']),
    ).not.toBeNull();
  });

  it('are not to blame for a schema that cannot be read', () => {
    expect(judgeBySchema({ $ref: 'https://elsewhere.example/schema' }, {})).toBeNull();
    expect(judgeBySchema({ pattern: '(' }, 'a')).toBeNull();
    expect(judgeBySchema({ $ref: '#' }, {})).toBeNull();
  });
});
