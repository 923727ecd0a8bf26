// Sources of signed deliveries: requests, answers and operations. The door for the deliveries themselves is no
// operation of the client API: hook-route.ts.
import { sourceKinds } from '@dormouse/ports';
import { z } from 'zod';
import { listOf, listQuery, name, time } from '../field.ts';
import { adminOfAll, operationsOf, readerOfAll } from '../operation.ts';

const fields = {
  name,
  kind: z.enum(sourceKinds),
  secret: name,
  agent: name,
  key: z.string().min(1).max(500),
  message: z.string().min(1).max(65_536),
};

export const newSource = z.strictObject(fields).meta({
  id: 'NewSource',
  description:
    'Who may send, and what becomes of it: `key` is a JSON Pointer into the body or `header:NAME`, its value the `external_id` of the thread; `message` is text with `{{/pointer}}`.',
});

const shown = { id: z.string(), ...fields, name: z.string(), agent: z.string(), created_at: time };

export const source = z.object(shown).meta({ id: 'Source', description: 'A source of signed deliveries.' });

export const madeSource = z.object({ ...shown, url: z.string() }).meta({
  id: 'MadeSource',
  description: 'The source, and the URL for its sender. The URL is a secret.',
});

export const sourceOperations = operationsOf('sources', {
  createSource: {
    route: 'POST /v1/sources',
    summary: 'Take signed deliveries that wake or open threads; the answer has the URL for their sender',
    access: adminOfAll,
    audit: { action: 'source.created', target: '{{name}}' },
    body: newSource,
    answers: { 201: madeSource, 200: madeSource },
    location: '/v1/sources/{{name}}',
    answersSecret: true,
    problems: ['ALREADY_EXISTS', 'TOO_MANY_SOURCES'],
  },
  listSources: {
    route: 'GET /v1/sources',
    summary: 'All sources by name, without their URLs',
    access: readerOfAll,
    query: listQuery,
    answers: { 200: listOf(source) },
  },
  deleteSource: {
    route: 'DELETE /v1/sources/{name}',
    summary: 'Take nothing more from it; its URL is no address any more',
    access: adminOfAll,
    audit: { action: 'source.deleted', target: '{name}' },
    answers: { 204: null },
  },
});
