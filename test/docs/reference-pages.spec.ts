// DORMOUSE_TEST_WRITE=1 writes the pages again.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { honouredVariables } from '@dormouse/host';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { filesBelow } from '../architecture/source-file.ts';
import { readDocument, root } from './document.ts';
import { openApiText, referencePages } from './reference-pages.ts';

describe('the reference', () => {
  it.each(Object.entries(referencePages))('%s is what the code says', async (path, made) => {
    const text = await made();
    if (process.env['DORMOUSE_TEST_WRITE'] === '1') writeFileSync(join(root, path), text);
    expect(readDocument(path).text, 'DORMOUSE_TEST_WRITE=1 writes it again').toBe(text);
  });
});

describe('the table of standard variables', () => {
  it('has every variable of OpenTelemetry that the code names', () => {
    const sources = filesBelow('libs').filter(
      ({ path }) => !path.endsWith('.spec.ts') && !path.endsWith('setting-readers.ts'),
    );
    const named = sources.flatMap(({ text }) => [...text.matchAll(/'(OTEL_[A-Z_]+)'/g)].map(([, name = '']) => name));
    expect(named.length).toBeGreaterThan(8);
    const listed = new Set(honouredVariables.map(({ name }) => name));
    expect(named.filter((name) => !listed.has(name) && name !== 'OTEL_')).toEqual([]);
  });
});

/** What the linter says of a document, in lines. */
async function lint(source: string): Promise<readonly string[]> {
  const config = await createConfig({ extends: ['recommended-strict'] });
  const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config });
  return problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer ?? ''}: ${message}`);
}

describe('the OpenAPI document', () => {
  it('is clean for the linter', async () => {
    expect(await lint(openApiText())).toEqual([]);
  });

  it('is not clean with an operation that has no problems', async () => {
    const document = JSON.parse(openApiText());
    document.paths['/v1/threads'].get.responses = { default: { description: 'Other.' } };
    expect(await lint(JSON.stringify(document))).toContainEqual(expect.stringContaining('operation-4xx-response'));
  });
});
