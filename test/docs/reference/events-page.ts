// docs/reference/events.md, made from the schemas of the OpenAPI document and the examples beside them.
import { eventExamples, openApiDocument } from '@dormouse/host';
import {
  anchorOf,
  code,
  type Field,
  fieldsOf,
  generatedNote,
  jsonBlock,
  partsOf,
  refName,
  type Schema,
  type Schemas,
  table,
  typeText,
} from './page-text.ts';

const introduction = `# Events

Everything that has happened to a thread is in its log, as one of these events. \`GET /v1/threads/{id}/events\` answers them
in order, and with \`Accept: text/event-stream\` as a stream that resumes after any position.

- An event never changes after it was written. Other releases may add types, fields and values: skip what you do not know.
- A field that has nothing to say is absent.
- Frames of a stream that are not in the log (\`status\`, \`delta\`, \`choice\` and so on) have no \`id\`, and are in the
  [OpenAPI document](openapi.json).
- Content, results and reports come from people, models and tools: show them as text.`;

export function eventsPage(): string {
  const { schemas } = (openApiDocument('0.0.0') as { readonly components: { readonly schemas: Schemas } }).components;
  const examples = eventExamples();
  const events = (schemas['ThreadEvent']?.oneOf ?? []).map(({ $ref = '' }) => schemaNamed(schemas, refName($ref)));
  const common = Object.keys(firstOf(events).properties ?? {}).filter((name) =>
    events.every(({ properties = {} }) => name in properties),
  );
  return [
    introduction,
    '## All types',
    table(
      ['type', 'when'],
      events.map((event) => [`[${code(typeOf(event))}](#${anchorOf(typeOf(event))})`, event.description ?? '']),
    ),
    '## What every event has',
    fieldTable(fieldsOf(only(firstOf(events), common)).map(withAnyType)),
    ...events.flatMap((event) => [
      `## ${typeOf(event)}`,
      event.description ?? '',
      ...ownFields(event, common),
      jsonBlock(exampleOf(examples, typeOf(event))),
    ]),
    '## Parts',
    ...partsOf(events, schemas).flatMap((name) => partText(name, schemaNamed(schemas, name))),
    generatedNote('the schemas of the API'),
  ].join('\n\n');
}

function ownFields(event: Schema, common: readonly string[]): readonly string[] {
  const own = fieldsOf(
    only(
      event,
      Object.keys(event.properties ?? {}).filter((name) => !common.includes(name)),
    ),
  );
  return own.length === 0 ? [] : [fieldTable(own)];
}

/** Of the fields that all have, the type differs. */
const withAnyType = (field: Field): Field => (field.name === 'type' ? { ...field, schema: { type: 'string' } } : field);

const fieldTable = (fields: readonly Field[]): string =>
  table(
    ['field', 'type', 'meaning'],
    fields.map(({ name, schema, isRequired, about }) => [
      code(name),
      `${typeText(schema)}${isRequired ? '' : ', optional'}`,
      about,
    ]),
  );

function partText(name: string, schema: Schema): readonly string[] {
  const fields = fieldsOf(schema);
  return [
    `### ${name}`,
    schema.description ?? '',
    fields.length > 0 ? fieldTable(fields) : `One of: ${(schema.oneOf ?? []).map(typeText).join(', ')}.`,
  ];
}

const only = (schema: Schema, names: readonly string[]): Schema => ({
  ...schema,
  properties: Object.fromEntries(Object.entries(schema.properties ?? {}).filter(([name]) => names.includes(name))),
});

const typeOf = (event: Schema): string => String(event.properties?.['type']?.const);

function firstOf(events: readonly Schema[]): Schema {
  const [first] = events;
  if (first === undefined) throw new Error('there is no event');
  return first;
}

function schemaNamed(schemas: Schemas, name: string): Schema {
  const schema = schemas[name];
  if (schema === undefined) throw new Error(`the document has no schema ${name}`);
  return schema;
}

function exampleOf(examples: ReadonlyMap<string, unknown>, type: string): unknown {
  if (!examples.has(type)) throw new Error(`${type} has no example`);
  return examples.get(type);
}
