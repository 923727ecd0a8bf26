// DORMOUSE_TEST_WRITE=1 writes the pages again.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { readDocument, root } from './document.ts';
import { openApiText, referencePages } from './reference-pages.ts';

describe('the reference', () => {
  it.each(Object.entries(referencePages))('%s is what the code says', async (path, made) => {
    const text = await made();
    if (process.env['DORMOUSE_TEST_WRITE'] === '1') writeFileSync(join(root, path), text);
    expect(readDocument(path).text, 'DORMOUSE_TEST_WRITE=1 writes it again').toBe(text);
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
