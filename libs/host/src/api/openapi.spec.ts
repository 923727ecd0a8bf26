import { describe, expect, it } from 'vitest';
import { openApiDocument } from './openapi.ts';
import { allOperations } from './operations.ts';

const text = JSON.stringify(openApiDocument('1.2.3'));
const document = JSON.parse(text);

describe('the OpenAPI document', () => {
  it('describes every operation once, under a name of its own', () => {
    const described = Object.values<Record<string, { operationId: string }>>(document.paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    expect(described.toSorted()).toEqual(allOperations.map(({ id }) => id).toSorted());
    expect(new Set(described).size).toBe(described.length);
  });

  it('refers only to schemas it has', () => {
    const names = Object.keys(document.components.schemas);
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) expect(names).toContain(name);
    expect(text).not.toMatch(/\$defs|"\$id"/);
  });

  it('has wire names only, but for what clients of AG-UI send', () => {
    const { AgUiRunInput: _theirs, ...schemas } = document.components.schemas;
    const properties = [...JSON.stringify(schemas).matchAll(/"properties":\{"([^"]+)"/g)].map(([, name]) => name);
    for (const name of properties) expect(name).toMatch(/^[a-z0-9_]+$/);
  });

  it('names the parameters of a path as the reference of the API does', () => {
    const things = allOperations.map(({ path }) => path.split('/').slice(0, 4).join('/'));
    expect([...new Set(things.filter((path) => path.includes('{')))].toSorted()).toEqual([
      '/v1/agents/{name}',
      '/v1/api-keys/{id}',
      '/v1/choices/{chc}',
      '/v1/parked/{thread}',
      '/v1/secrets/{name}',
      '/v1/threads/{id}',
      '/v1/tool-servers/{name}',
    ]);
    const paths = Object.keys(document.paths);
    expect(paths).toEqual(expect.arrayContaining(['/v1/threads/{id}/choices/{chc}', '/v1/agents/{name}/versions/{n}']));
  });

  it('J3 lets a thread token do something at paths of its thread, and where the handler finds the thread', () => {
    const able = allOperations.filter(({ access }) => access !== 'open' && access.ability !== null);
    expect(able.length).toBeGreaterThan(10);
    const elsewhere = able.filter(({ path }) => !`${path}/`.startsWith('/v1/threads/{id}/'));
    expect(elsewhere.filter(({ access }) => access === 'open' || access.thread !== 'found_later')).toEqual([]);
  });

  it('refuses unknown fields in every request body, but for those of other protocols', () => {
    for (const { body, id, tag } of allOperations) {
      if (body === undefined || tag === 'ui') continue;
      const parsed = body.safeParse({ surprise: true });
      expect({
        id,
        refused: parsed.success ? null : JSON.stringify(parsed.error.issues).includes('unrecognized_keys'),
      }).toEqual({ id, refused: true });
    }
  });
});
