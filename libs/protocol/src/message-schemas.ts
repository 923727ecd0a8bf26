/**
 * Owns: the messages of RAP as JSON Schemas (2020-12), for authors in other languages; derived from the schemas that
 * parse them here. The files in `schemas/` are written from this, and a spec compares them.
 *
 * 1. They are as loose as a receiver has to be: a field that they do not name is allowed.
 * 2. What JSON Schema cannot say is in a description: sizes in bytes of UTF-8, an index that has to exist.
 */
import type { JsonObject } from '@dormouse/json';
import { z } from 'zod';
import { callbackSchemas } from './callback.ts';
import { choiceAnswerSchema } from './choice-answer.ts';
import { contentField, contentItem, displayField, displaySegment } from './content.ts';
import { opaqueObjectField, urlField } from './field.ts';
import { toolInvocationSchema } from './invocation.ts';
import { callbackBytesMax, contentItemsMax, displaySegmentsMax, manifestBytesMax, textBytesMax } from './limits.ts';
import { cancelToolCallSchema, closeThreadSchema, migrateSchema } from './notice.ts';
import { manifestSchema } from './toolset.ts';

interface Message {
  readonly schema: z.ZodType;
  readonly description: string;
  /** What the schema of the parser checks by a function. */
  readonly also?: JsonObject;
}

const { tool_result, subscription_event, oauth, user_choice, view_update } = callbackSchemas;

/** By name of the file: from the tool server to the runtime, then from the runtime to the tool server. */
const messages: Readonly<Record<string, Message>> = {
  manifest: {
    schema: manifestSchema,
    description: `GET {base}/.well-known/rap-toolset answers it: at most ${manifestBytesMax} bytes. Each inputSchema is a JSON Schema that allows an object; tool names are unique.`,
  },
  'tool-result': {
    schema: tool_result,
    description: `POST to callback_url: the outcome of a call. An error is a text that begins with "Error: ". Texts have at most ${textBytesMax} bytes, the body ${callbackBytesMax}.`,
    also: { anyOf: [{ required: ['text'] }, { required: ['content'] }] },
  },
  'subscription-event': {
    schema: subscription_event,
    description: 'POST to callback_url, after a tool_result with subscription: true.',
  },
  'user-choice': {
    schema: user_choice,
    description:
      'POST to callback_url: asks a person; `default` is an index of `choices`. The tool_result follows the answer.',
  },
  oauth: { schema: oauth, description: 'POST to callback_url: a person has to log in. The tool_result follows.' },
  'view-update': {
    schema: view_update,
    description: 'POST to callback_url: state beside the conversation; {} clears it.',
  },
  invocation: {
    schema: toolInvocationSchema,
    description: 'POST to the endpoint of the manifest. Answer 200 at once; the result goes to callback_url.',
  },
  'cancel-tool-call': { schema: cancelToolCallSchema, description: 'POST {base}/cancel_tool_call; answer 200.' },
  'close-thread': { schema: closeThreadSchema, description: 'POST {base}/close_thread; answer 200.' },
  'choice-answer': {
    schema: choiceAnswerSchema,
    description: 'POST to the response_url of a user_choice; answer 200.',
  },
  migrate: { schema: migrateSchema, description: 'POST {base}/migrate, where the manifest says needsMigration.' },
};

/** JSON Schemas of fields that are checked by functions, by the field. */
const fields = new Map<unknown, JsonObject>([
  [opaqueObjectField, { type: 'object' }],
  [urlField, { format: 'uri', pattern: String.raw`^[Hh][Tt][Tt][Pp][Ss]?://\S+$` }],
]);
fields.set(contentField, { type: 'array', items: itemsOf(contentItem), maxItems: contentItemsMax });
fields.set(displayField, { type: 'array', items: itemsOf(displaySegment), maxItems: displaySegmentsMax });

/** Every message, by the name of its file. */
export function messageSchemas(): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(
    Object.entries(messages).map(([name, { schema, description, also = {} }]) => {
      const { $schema, ...json } = plain(schema);
      return [name, { $schema, title: name, description, ...json, ...also } satisfies JsonObject];
    }),
  );
}

/** A known item has its fields; one of another type is skipped by its reader. */
function itemsOf(known: typeof contentItem | typeof displaySegment): JsonObject {
  const names = known.options.map(({ shape }) => shape.type.value);
  const other = { type: 'object', required: ['type'], properties: { type: { type: 'string', not: { enum: names } } } };
  const items = known.options.map((option): JsonObject => {
    const { $schema: _, ...item } = plain(option);
    return item;
  });
  return { anyOf: [...items, other] };
}

/** (1) */
function plain(schema: z.ZodType): JsonObject {
  return z.toJSONSchema(schema, {
    io: 'input',
    target: 'draft-2020-12',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      delete jsonSchema.additionalProperties;
      Object.assign(jsonSchema, fields.get(zodSchema));
    },
  }) as unknown as JsonObject;
}
