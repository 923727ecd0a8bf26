import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { messageSchemas } from './message-schemas.ts';

interface Fixtures {
  readonly valid: readonly { readonly title: string; readonly wire: unknown }[];
  readonly invalid: readonly { readonly title: string; readonly wire: unknown }[];
}

const read = (path: string): unknown => JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'));
const schemas = messageSchemas();
const fixtures: Readonly<Record<string, string>> = { manifest: 'toolset' };

/** What a reader tolerates, and no sender should rely on; `null` in optional fields is another such thing. */
const tolerated = ['R107 a version that is no text is no version', 'R48 unknown display segments are skipped'];
/** What no JSON Schema says. (2) */
const beyondSchemas = ['R22 the same name twice', 'R72 the reserved name', 'R92 a default beyond the choices'];
const hasNull = (wire: unknown): boolean => /:null[,}]/.test(JSON.stringify(wire));

describe('the JSON Schemas of the messages', () => {
  it('are the files that authors read', () => {
    const files = readdirSync(new URL('../schemas', import.meta.url));
    expect(files.toSorted()).toEqual(
      Object.keys(schemas)
        .map((name) => `${name}.json`)
        .toSorted(),
    );
    for (const [name, schema] of Object.entries(schemas))
      expect(
        read(`schemas/${name}.json`),
        'write them: node --conditions=dormouse-source test/docs/write-schemas.ts',
      ).toEqual(schema);
  });

  it.each(Object.entries(schemas))('%s agrees with the parser on its examples', (name, schema) => {
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
    const { valid, invalid } = read(`fixtures/${fixtures[name] ?? name}.json`) as Fixtures;
    const refused = valid.filter(({ wire }) => !hasNull(wire) && !validate(wire)).map(({ title }) => title);
    expect(refused.filter((title) => !tolerated.includes(title))).toEqual([]);
    const taken = invalid.filter(({ wire }) => validate(wire)).map(({ title }) => title);
    expect(taken.filter((title) => !beyondSchemas.includes(title))).toEqual([]);
    expect(valid.length - refused.length).toBeGreaterThan(0);
  });
});
