// The OpenAPI document, derived from the operations alone: what is validated is what is documented.
import { z } from 'zod';
import type { Operation } from './operation.ts';
import { allOperations } from './operations.ts';
import { exampleOf } from './reference/examples.ts';
import { streams } from './reference/frames.ts';
import { answerHeaders, headerParameters, parametersOf, sharedHeaders } from './reference/headers.ts';
import { operationTexts } from './reference/operation-texts.ts';
import { problemComponents, problemReference, problemSchema, problemsOf } from './reference/problems.ts';
import { describing, type Json, namedSchemas, queryJson, schemaJson } from './reference/schema-json.ts';
import { pathParameters, tagTexts } from './reference/tags.ts';

const description = `The client API of Dormouse, a runtime for AI agents that sleep until something happens.

- JSON in snake_case, UTF-8. Times are RFC 3339, UTC, with milliseconds. Ids are opaque and sort by time.
- Requests with fields that this server does not know are refused. Answers may gain fields, event types and values:
  skip what you do not know.
- A list has \`limit\` and \`cursor\`, and answers \`next_cursor\`, which is null at the end.
- What a thread is asked to do is answered with 202 and an id; what came of it is in the thread's events.`;

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
      description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The server that this document came from.' }],
    tags: [...new Set(allOperations.map(({ tag }) => tag))].map(tagJson),
    security: [{ key: [] }],
    paths,
    components: {
      schemas: { ...namedSchemas(), Problem: problemSchema },
      responses: problemComponents(allOperations),
      parameters: parametersOf(allOperations),
      headers: sharedHeaders,
      securitySchemes,
    },
  };
}

const securitySchemes = {
  key: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key, which decides the tenant, or a thread token, which opens one thread.',
  },
  streamToken: {
    type: 'apiKey',
    in: 'query',
    name: 'access_token',
    description: 'A thread token, on event streams only: a browser’s EventSource cannot send headers.',
  },
};

/** @throws Error for a tag without a text */
function tagJson(name: string): Json {
  const text = tagTexts[name];
  if (text === undefined) throw new Error(`the tag ${name} is not described in tags.ts`);
  return { name, description: text };
}

function operationJson(operation: Operation): Json {
  const { id, tag, summary, path, answers } = operation;
  const text = operationTexts[id];
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [...(text === undefined ? [] : [text]), accessText(operation.access)].join('\n\n'),
    parameters: [
      ...pathParameters(path).map((parameter) => ({
        ...parameter,
        in: 'path',
        required: true,
        schema: { type: 'string' },
      })),
      ...queryParameters(operation),
      ...headerParameters(operation),
    ],
    ...requestJson(operation),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, answer]) => [status, answerJson(operation, status, answer)]),
      ),
      ...Object.fromEntries(
        [...problemsOf(operation)].map(([status, codes]) => [String(status), problemReference(codes)]),
      ),
      default: problemAnswer,
    },
    ...securityOf(operation),
  };
}

function securityOf({ id, access }: Operation): Json {
  if (access === 'open') return { security: [] };
  return id === 'listEvents' ? { security: [{ key: [] }, { streamToken: [] }] } : {};
}

function accessText(access: Operation['access']): string {
  if (access === 'open') return 'Needs no key.';
  if (access === 'platform') return 'Needs the platform key.';
  const key = `Needs a key with the scope \`${access.scope}\``;
  if (access.ability === null) return `${key}.`;
  const abilities = [access.ability].flat().map((ability) => `\`${ability}\``);
  return `${key}, or a thread token that can ${abilities.join(' or ')}.`;
}

function requestJson(operation: Operation): Json {
  const { id, body, bodyOptional } = operation;
  if (body === undefined) return {};
  const example = exampleOf(id)?.body;
  const content = { schema: schemaJson(body), ...(example === undefined ? {} : { example }) };
  return { requestBody: { required: bodyOptional !== true, content: { 'application/json': content } } };
}

const statusTexts: Readonly<Record<string, string>> = {
  200: 'The answer.',
  201: 'It was made.',
  202: 'It was taken, and is in the thread’s log soon.',
  204: 'Done.',
};

function answerJson(operation: Operation, status: string, answer: z.ZodType | string | null): Json {
  const { id, answers } = operation;
  const existed = status === '200' && answers[201] !== undefined;
  const head = {
    description: answerTexts[`${id}.${status}`] ?? (existed ? 'It exists already.' : (statusTexts[status] ?? 'Done.')),
    headers: answerHeaders(operation, Number(status)),
  };
  if (answer === null) return head;
  if (typeof answer === 'string') return { ...head, content: { [answer]: bytesContent(answer) } };
  const example = exampleOf(id)?.answers?.[Number(status)];
  const json = { schema: schemaJson(answer, id), ...(example === undefined ? {} : { example }) };
  return { ...head, content: { 'application/json': json, ...streamContent(id) } };
}

/** Of a stream whose events another protocol describes nothing is said: readers take a schema for that of one event. */
const bytesContent = (mediaType: string): Json =>
  mediaType === 'text/event-stream' ? {} : { schema: { type: 'string', format: 'binary' } };

const answerTexts: Readonly<Record<string, string>> = {
  'postMessage.200': 'With `Prefer: wait=`: the turn ended in time, or waits for a person.',
  'postMessage.202': 'The message was taken; without `Prefer`, or when the time was over first.',
  'listEvents.204': 'Of a stream: the thread is closed, and there is nothing newer.',
};

/** `contentSchema` is that of one frame; a stream has them one after the other. */
function streamContent(id: string): Json {
  const stream = streams[id];
  if (stream === undefined) return {};
  const { description: text, frame, example } = stream;
  const schema = {
    type: 'string',
    description: text,
    contentMediaType: 'text/event-stream',
    contentSchema: schemaJson(frame),
  };
  return { 'text/event-stream': { schema, example } };
}

const problemAnswer = {
  description: 'Any other problem.',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};

function queryParameters({ id, query }: Operation): readonly Json[] {
  if (!(query instanceof z.ZodObject)) return [];
  const parameters = Object.entries(query.shape as Record<string, z.ZodType>).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    description: schema.meta()?.description ?? describing(name, id) ?? '',
    schema: name === 'cursor' ? schemaJson(schema) : queryJson(schema), // a cursor is opaque, also where it is a number
  }));
  return id === 'listThreads' ? [...parameters, labelParameter] : parameters;
}

const labelParameter = {
  name: 'metadata',
  in: 'query',
  required: false,
  description: 'Only threads that have these labels, as `metadata[key]=value`.',
  style: 'deepObject',
  explode: true,
  schema: { type: 'object', additionalProperties: { type: 'string' } },
  example: { customer: '4711' },
};
