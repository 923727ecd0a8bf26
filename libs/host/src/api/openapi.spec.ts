import { describe, expect, it } from 'vitest';
import { openApiDocument } from './openapi.ts';
import type { Operation } from './operation.ts';
import { allOperations } from './operations.ts';
import { examples } from './reference/examples.ts';

interface Described {
  readonly operationId: string;
  readonly description?: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly description?: string;
    readonly $ref?: string;
    readonly schema?: unknown;
  }[];
  readonly responses: Readonly<Record<string, unknown>>;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
}

const text = JSON.stringify(openApiDocument('1.2.3'));
const document = JSON.parse(text);
const described = Object.values<Record<string, Described>>(document.paths).flatMap((path) => Object.values(path));
const schemas: Readonly<Record<string, unknown>> = document.components.schemas;

/** Each property of each schema, with the way to it. */
function* properties(schema: unknown, way: string): Generator<readonly [string, Readonly<Record<string, unknown>>]> {
  if (typeof schema !== 'object' || schema === null) return;
  for (const [name, member] of Object.entries(schema)) {
    if (name === 'example' || name === 'examples') continue;
    if (name === 'properties')
      for (const [property, inner] of Object.entries(member as Record<string, Record<string, unknown>>))
        yield [`${way}.${property}`, inner];
    yield* properties(member, name === 'properties' || /^\d+$|Of$|items/.test(name) ? way : `${way}.${name}`);
  }
}

const everyProperty = [...properties(document.paths, 'paths'), ...properties(schemas, 'schemas')];

describe('the OpenAPI document', () => {
  it('describes every operation once, under a name of its own', () => {
    const ids = described.map(({ operationId }) => operationId);
    expect(ids.toSorted()).toEqual(allOperations.map(({ id }) => id).toSorted());
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('describes every parameter and every property', () => {
    expect(everyProperty.length).toBeGreaterThan(300);
    const bare = everyProperty.filter(([, { description }]) => typeof description !== 'string' || description === '');
    expect(bare.map(([way]) => way)).toEqual([]);
    const parameters = described.flatMap(({ operationId, parameters: all }) =>
      all
        .filter(({ $ref, description }) => $ref === undefined && (description ?? '') === '')
        .map(({ name }) => `${operationId}.${name}`),
    );
    expect(parameters).toEqual([]);
  });

  it('describes every named schema', () => {
    const bare = Object.entries(schemas).filter(([, schema]) => !(schema as { description?: string }).description);
    expect(bare.map(([name]) => name)).toEqual([]);
  });

  it('has whole numbers as integers', () => {
    const numbers = everyProperty.filter(([, schema]) => JSON.stringify(schema['type'] ?? '').includes('number'));
    expect(numbers.map(([way]) => way.split('.').at(-1))).toEqual(
      numbers.map(() => expect.stringMatching(/_ms$|^p\d+$|^weight$|^requests_per_s$/)),
    );
    const isCursor = (id: string, name: string): boolean => id === 'listTenantEvents' && name === 'after';
    for (const { operationId, parameters } of described)
      for (const { name, schema } of parameters)
        if ((name === 'limit' || name === 'after') && !isCursor(operationId, name))
          expect(schema).toMatchObject({ type: 'integer' });
  });

  it('has the problems of each operation by their status', () => {
    for (const { operationId, responses } of described)
      expect({ operationId, statuses: Object.keys(responses) }).toMatchObject({
        statuses: expect.arrayContaining(['403', '503', 'default']),
      });
    const { responses } = document.paths['/v1/threads'].post;
    expect(Object.keys(responses)).toEqual(
      expect.arrayContaining(['400', '401', '403', '409', '413', '415', '422', '429', '503']),
    );
    expect(responses['409'].$ref).toContain('ALREADY_EXISTS');
    expect(document.components.responses['NOT_FOUND'].description).toContain('/errors/NOT_FOUND');
  });

  it('refers only to components it has', () => {
    const references = [...text.matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)];
    for (const [, kind = '', name = ''] of references) expect(Object.keys(document.components[kind])).toContain(name);
    expect(text).not.toMatch(/\$defs|"\$id"/);
  });

  it('has wire names only, but for what clients of AG-UI send', () => {
    const ours = everyProperty.filter(([way]) => !way.startsWith('schemas.AgUiRunInput.'));
    for (const [way] of ours) expect(way).toMatch(/\.[a-z0-9_]+$/);
  });

  it('names the parameters of a path as the reference of the API does', () => {
    const things = allOperations.map(({ path }) => path.split('/').slice(0, 4).join('/'));
    expect([...new Set(things.filter((path) => path.includes('{')))].toSorted()).toEqual([
      '/v1/agents/{name}',
      '/v1/api-keys/{id}',
      '/v1/choices/{chc}',
      '/v1/erasures/{id}',
      '/v1/parked/{thread}',
      '/v1/schedules/{name}',
      '/v1/secrets/{name}',
      '/v1/sources/{name}',
      '/v1/tenants/{id}',
      '/v1/threads/{id}',
      '/v1/tool-servers/{name}',
      '/v1/users/{user_id}',
      '/v1/webhooks/{id}',
    ]);
    const paths = Object.keys(document.paths);
    expect(paths).toEqual(expect.arrayContaining(['/v1/threads/{id}/choices/{chc}', '/v1/agents/{name}/versions/{n}']));
  });

  it('J3 lets a thread token do something at paths of its thread, and where the handler finds the thread', () => {
    const able = allOperations.flatMap(({ path, access }) =>
      typeof access === 'string' || access.ability === null ? [] : [{ path, access }],
    );
    expect(able.length).toBeGreaterThan(10);
    const elsewhere = able.filter(({ path }) => !`${path}/`.startsWith('/v1/threads/{id}/'));
    expect(elsewhere.filter(({ access }) => access.thread !== 'found_later')).toEqual([]);
  });

  it('says the address of everything that a 201 makes and that has one', () => {
    const form = (path: string): string => path.replaceAll(/\{+\w+\}+/g, '{}');
    const addresses = new Set(allOperations.map(({ path }) => form(path)));
    const making = allOperations.filter(({ answers }) => answers[201] !== undefined);
    expect(making.length).toBeGreaterThan(6);
    for (const { id, path, location } of making) {
      if (location === undefined)
        expect({ id, hasAddress: addresses.has(`${form(path)}/{}`) }).toMatchObject({ hasAddress: false });
      else expect(addresses).toContain(form(location));
    }
    const withHeader = Object.entries<Record<string, Described>>(document.paths).flatMap(([, path]) =>
      Object.values(path).filter(({ responses }) =>
        JSON.stringify(responses['201'] ?? '').includes('headers/Location'),
      ),
    );
    expect(withHeader.map(({ operationId }) => operationId).toSorted()).toEqual(
      making.flatMap(({ id, location }) => (location === undefined ? [] : [id])).toSorted(),
    );
  });

  it('refuses unknown fields in every request body, but for those of other protocols', () => {
    for (const { body, id, tag } of allOperations) {
      if (body === undefined || tag === 'ui') continue;
      const known = id === 'putUserCredential' ? { type: 'bearer', value: 'v' } : {}; // what the type decides
      const parsed = body.safeParse({ ...known, surprise: true });
      expect({
        id,
        refused: parsed.success ? null : JSON.stringify(parsed.error.issues).includes('unrecognized_keys'),
      }).toEqual({ id, refused: true });
    }
  });
});

describe('an event', () => {
  const { oneOf, discriminator } = schemas['ThreadEvent'] as {
    readonly oneOf: readonly { readonly $ref: string }[];
    readonly discriminator: { readonly propertyName: string; readonly mapping: Readonly<Record<string, string>> };
  };

  it('is found by its type', () => {
    expect(discriminator.propertyName).toBe('type');
    expect(Object.values(discriminator.mapping).toSorted()).toEqual(oneOf.map(({ $ref }) => $ref).toSorted());
    expect(discriminator.mapping['message_accepted']).toBe('#/components/schemas/MessageAcceptedEvent');
    expect(Object.keys(discriminator.mapping).length).toBeGreaterThan(30);
  });
});

describe('an example', () => {
  /** Answers with a field that is not described would be documented wrongly. */
  const problemsOf = (schema: Operation['answers'][number] | undefined, value: unknown): unknown => {
    if (schema === undefined || schema === null || typeof schema === 'string') return 'has no schema';
    return schema.safeParse(value).error?.issues ?? [];
  };

  it.each(Object.entries(examples))('of %s is what is accepted and answered', (id, { body, answers = {} }) => {
    const operation: Operation | undefined = allOperations.find((one) => one.id === id);
    if (operation === undefined) throw new Error('there is no such operation');
    if (body !== undefined) expect(problemsOf(operation.body, body)).toEqual([]);
    for (const [status, answer] of Object.entries(answers))
      expect(problemsOf(operation.answers[Number(status)], answer)).toEqual([]);
  });

  it('is there for every operation that needs a body', () => {
    const bare = allOperations.filter(
      ({ id, body, bodyOptional }) => body !== undefined && !bodyOptional && !examples[id]?.body,
    );
    expect(bare.map(({ id }) => id)).toEqual([]);
  });
});
