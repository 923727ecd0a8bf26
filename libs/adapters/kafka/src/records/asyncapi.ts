// The AsyncAPI document of the topics, derived from the schemas of their records.
import { z } from 'zod';
import { topicNames, type TopicName } from '../topic-names.ts';
import { traceHeader, typeOf } from './cloud-event.ts';
import { instant } from './content-schemas.ts';
import { dispatchSchemas, noticeSchemas } from './effect-schemas.ts';
import { inputSchemas } from './input-schemas.ts';
import { inputEnvelope, workEnvelope } from './record-envelope.ts';

export type Json = Readonly<Record<string, unknown>>;

const description = `The topics of a cluster of Dormouse, for those that watch, measure or copy them. Nothing but Dormouse
writes to them: a thread changes through the client API and the callback endpoint alone.

- Every record is a CloudEvent 1.0 in the binary mode of the Kafka binding. \`ce_source\` and \`ce_id\` together name it.
- Records are delivered at least once: a reader dedups by source and id.
- A record's key is that of its thread, and all records of a thread are in one partition; those of \`inputs\` are in order.
- Values may gain fields and kinds: skip what you do not know.`;

const bindingVersion = '0.5.0';

interface Topic {
  readonly summary: string;
  readonly envelope: z.ZodObject;
  readonly member: 'input' | 'effect';
  readonly schemas: Readonly<Record<string, z.ZodType>>;
  readonly sender: string;
  readonly receiver: string;
}

const owed = workEnvelope.extend({
  tenant: z.string(),
  thread: z.string(),
  at: instant,
  trace: z.string().nullable().meta({ description: 'W3C trace context.' }),
  agent: z.string().optional().meta({ description: 'Trace context of the turn that asked for a traced call.' }),
});

const topics: Readonly<Record<TopicName, Topic>> = {
  inputs: {
    summary: 'Everything that may change a thread.',
    ...{ envelope: inputEnvelope, member: 'input', schemas: inputSchemas },
    ...{ sender: 'the gateways, the dispatcher, the notifier and the processors', receiver: 'thread-processor' },
  },
  dispatches: {
    summary: 'Work for the tool servers.',
    ...{ envelope: owed, member: 'effect', schemas: dispatchSchemas },
    ...{ sender: 'thread-processor', receiver: 'tool-dispatcher' },
  },
  notices: {
    summary: 'What tool servers are told once, and answers of people.',
    ...{ envelope: owed, member: 'effect', schemas: noticeSchemas },
    ...{ sender: 'thread-processor', receiver: 'notifier' },
  },
};

export function asyncApiDocument(version: string): Json {
  return {
    asyncapi: '3.0.0',
    info: {
      ...{ title: 'Dormouse: topics', version, description },
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    servers: {
      kafka: {
        ...{ host: '{broker}', protocol: 'kafka', description: 'The brokers of the installation.' },
        variables: { broker: { default: '127.0.0.1:9092', description: 'One of `DORMOUSE_KAFKA_BROKERS`.' } },
      },
    },
    channels: Object.fromEntries(topicNames.map((name) => [name, channelOf(name)])),
    operations: Object.fromEntries(topicNames.flatMap((name) => operationsOf(name))),
    components: { messages: Object.fromEntries(topicNames.flatMap((name) => messagesOf(name))) },
  };
}

const channelOf = (name: TopicName): Json => ({
  address: `{prefix}${name}`,
  summary: topics[name].summary,
  parameters: { prefix: { default: 'dormouse.', description: '`DORMOUSE_KAFKA_PREFIX`.' } },
  messages: Object.fromEntries(
    Object.keys(topics[name].schemas).map((message) => [message, { $ref: `#/components/messages/${message}` }]),
  ),
  bindings: { kafka: { topicConfiguration: { 'cleanup.policy': ['delete'] }, bindingVersion } },
});

const operationsOf = (name: TopicName): readonly (readonly [string, Json])[] => {
  const channel = { $ref: `#/channels/${name}` };
  const { sender, receiver } = topics[name];
  const group = { type: 'string', description: 'The consumer group, behind the prefix.', enum: [receiver] };
  return [
    [`send_${name}`, { action: 'send', channel, summary: `Done by ${sender}.` }],
    [
      `receive_${name}`,
      {
        ...{ action: 'receive', channel, summary: `Done by ${receiver}.` },
        bindings: { kafka: { groupId: group, bindingVersion } },
      },
    ],
  ];
};

function messagesOf(name: TopicName): readonly (readonly [string, Json])[] {
  const { envelope, member, schemas } = topics[name];
  return Object.entries(schemas).map(([message, schema]) => [
    message,
    {
      name: typeOf(name, message),
      summary: z.globalRegistry.get(schema)?.description,
      contentType: 'application/json',
      headers: headersSchema(name, message),
      payload: schemaJson(envelope.extend({ [member]: schema })),
      bindings: { kafka: { key: keySchema, bindingVersion } },
    },
  ]);
}

const keySchema = { type: 'string', description: 'The tenant and the thread.' };

const headersSchema = (topic: TopicName, message: string): Json => ({
  type: 'object',
  required: ['ce_specversion', 'ce_id', 'ce_source', 'ce_type', 'content-type'],
  properties: {
    ce_specversion: { const: '1.0' },
    ce_id: { type: 'string', minLength: 1, description: 'Of the input or effect.' },
    ce_source: {
      ...{ type: 'string', format: 'uri-reference', pattern: '^/tenants/[^/]+/threads/[^/]+$' },
      description: 'The thread that it belongs to.',
    },
    ce_type: { const: typeOf(topic, message) },
    'content-type': { const: 'application/json' },
    [traceHeader]: { type: 'string', description: 'W3C trace context of the sender.' },
  },
});

/** As loose as a reader has to be: a field that is not named is allowed. JSON Schema draft 7, as AsyncAPI 3 has it. */
function schemaJson(schema: z.ZodType): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', target: 'draft-7', reused: 'inline' });
  return json;
}
