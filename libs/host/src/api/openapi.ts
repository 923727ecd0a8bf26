// The OpenAPI document, derived from the operations alone: what is validated is what is documented.
import { z } from 'zod';
import type { Operation } from './operation.ts';
import { allOperations } from './operations.ts';

type Json = Readonly<Record<string, unknown>>;

export function openApiDocument(version: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const operation of allOperations) {
    const path = (paths[operation.path] ??= {});
    path[operation.method.toLowerCase()] = operationJson(operation);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Dormouse',
      version,
      description: 'Client API. Times are RFC 3339 UTC with milliseconds; unknown fields in answers must be tolerated.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ key: [] }],
    paths,
    components: {
      schemas: { ...namedSchemas(), Problem: problemSchema },
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
    },
  };
}

function operationJson(operation: Operation): Json {
  const { id, tag, summary, body, answers } = operation;
  const content =
    body === undefined
      ? {}
      : {
          requestBody: {
            required: operation.bodyOptional !== true,
            content: { 'application/json': { schema: schemaJson(body) } },
          },
        };
  return {
    operationId: id,
    tags: [tag],
    summary,
    parameters: [
      ...pathParameters(operation.path),
      ...queryParameters(operation.query),
      ...headerParameters(operation),
    ],
    ...content,
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, answerJson(answer)])),
      default: problemAnswer,
    },
    ...(operation.access === 'open' ? { security: [] } : {}),
  };
}

function answerJson(answer: z.ZodType | string | null): Json {
  if (answer === null) return { description: 'Done.' };
  if (typeof answer === 'string')
    return { description: 'Bytes.', content: { [answer]: { schema: { type: 'string', format: 'binary' } } } };
  return { description: 'Done.', content: { 'application/json': { schema: schemaJson(answer) } } };
}

const problemAnswer = {
  description: 'A problem document.',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};

const problemSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code'],
  properties: {
    type: { type: 'string', description: 'A page of this server.' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string', description: 'The request id, also in X-Request-Id.' },
    code: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['pointer', 'detail'],
        properties: { pointer: { type: 'string' }, detail: { type: 'string' } },
      },
    },
    settled: { type: 'object', description: 'With CHOICE_SETTLED: the first answer.' },
    trace_id: { type: ['string', 'null'] },
  },
};

function pathParameters(path: string): readonly Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters(query: z.ZodType | undefined): readonly Json[] {
  if (!(query instanceof z.ZodObject)) return [];
  return Object.entries(query.shape as Record<string, z.ZodType>).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema: schemaJson(schema),
  }));
}

function headerParameters({ method, id, problems = [] }: Operation): readonly Json[] {
  const text = { type: 'string' };
  const idempotency =
    method === 'POST'
      ? [{ name: 'Idempotency-Key', in: 'header', required: false, schema: { ...text, maxLength: 255 } }]
      : [];
  const prefer =
    id === 'postMessage'
      ? [{ name: 'Prefer', in: 'header', required: false, schema: text, description: '`wait=30`' }]
      : [];
  const match = problems.includes('PRECONDITION_FAILED')
    ? [
        {
          name: 'If-Match',
          in: 'header',
          required: false,
          schema: text,
          description: 'An `ETag`: changes nothing else.',
        },
      ]
    : [];
  return [...idempotency, ...prefer, ...match];
}

const schemaUri = (id: string): string => `#/components/schemas/${id}`;

/** A reference for a named schema, the schema itself otherwise. */
function schemaJson(schema: z.ZodType): Json {
  const id = z.globalRegistry.get(schema)?.id;
  if (id !== undefined) return { $ref: schemaUri(id) };
  const {
    $schema: _,
    $defs: __,
    ...json
  } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' });
  return referenceNames(json) as Json;
}

/** Every schema that an operation names, by its name. */
function namedSchemas(): Json {
  const registry = z.toJSONSchema(z.globalRegistry, { io: 'input', unrepresentable: 'any', uri: schemaUri });
  return Object.fromEntries(
    Object.entries(registry.schemas).map(([id, { $schema: _, $id: __, ...json }]) => [id, json]),
  );
}

/** `#/$defs/X` of a single schema is `#/components/schemas/X` of the document. */
function referenceNames(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(referenceNames);
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => [
      name,
      name === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', schemaUri('')) : referenceNames(value),
    ]),
  );
}
