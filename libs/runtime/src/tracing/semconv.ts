// Every attribute of our spans, once: its name, its type, its values where they are known, and which spans have it.
//
// Those that begin with `gen_ai.` are of the GenAI semantic conventions, which are in development:
// open-telemetry/semantic-conventions-genai, model/gen-ai/registry.yaml and spans.yaml at
// 002c8a6ea1c8a42b14a4527db83b3cabcded610a. Those of HTTP, servers, errors and messaging are OpenTelemetry's general
// ones; `dormouse.` is ours.
//
// Invariants:
//   C1. A span has no attribute that is not in the table, and none of another type or value.
//   C2. A span has all attributes that `spanTable` requires of its name.
//   C3. Contents are on no span unless they are asked for (content-switch.ts).
import type { Span } from '@dormouse/ports';

export interface AttributeDescription {
  readonly name: string;
  readonly type: 'string' | 'int' | 'double' | 'boolean' | 'string[]' | 'json';
  readonly values?: readonly string[];
  /** (C3) */
  readonly isContent?: true;
}

/** By our own word for each. */
const described = {
  operation: {
    name: 'gen_ai.operation.name',
    type: 'string',
    values: ['invoke_agent', 'chat', 'execute_tool', 'settle_tool', 'run_tool'],
  },
  agentId: { name: 'gen_ai.agent.id', type: 'string' },
  agentName: { name: 'gen_ai.agent.name', type: 'string' },
  agentVersion: { name: 'gen_ai.agent.version', type: 'string' },
  conversation: { name: 'gen_ai.conversation.id', type: 'string' },
  provider: {
    name: 'gen_ai.provider.name',
    type: 'string',
    values: ['openai', 'anthropic', 'openai_compatible', 'demo', 'scripted'],
  },
  requestModel: { name: 'gen_ai.request.model', type: 'string' },
  requestStream: { name: 'gen_ai.request.stream', type: 'boolean' },
  responseId: { name: 'gen_ai.response.id', type: 'string' },
  responseModel: { name: 'gen_ai.response.model', type: 'string' },
  finishReasons: { name: 'gen_ai.response.finish_reasons', type: 'string[]' },
  timeToFirstChunk: { name: 'gen_ai.response.time_to_first_chunk', type: 'double' },
  inputTokens: { name: 'gen_ai.usage.input_tokens', type: 'int' },
  outputTokens: { name: 'gen_ai.usage.output_tokens', type: 'int' },
  cacheReadTokens: { name: 'gen_ai.usage.cache_read.input_tokens', type: 'int' },
  cacheCreationTokens: { name: 'gen_ai.usage.cache_creation.input_tokens', type: 'int' },
  toolName: { name: 'gen_ai.tool.name', type: 'string' },
  toolCallId: { name: 'gen_ai.tool.call.id', type: 'string' },
  toolType: { name: 'gen_ai.tool.type', type: 'string', values: ['function'] },
  toolDescription: { name: 'gen_ai.tool.description', type: 'string', isContent: true },
  toolArguments: { name: 'gen_ai.tool.call.arguments', type: 'json', isContent: true },
  toolResult: { name: 'gen_ai.tool.call.result', type: 'json', isContent: true },
  inputMessages: { name: 'gen_ai.input.messages', type: 'json', isContent: true },
  outputMessages: { name: 'gen_ai.output.messages', type: 'json', isContent: true },
  errorType: { name: 'error.type', type: 'string' },
  serverAddress: { name: 'server.address', type: 'string' },
  serverPort: { name: 'server.port', type: 'int' },
  httpMethod: { name: 'http.request.method', type: 'string', values: ['POST', 'PUT', 'PATCH', 'DELETE'] },
  httpRoute: { name: 'http.route', type: 'string' },
  httpStatus: { name: 'http.response.status_code', type: 'int' },
  httpResendCount: { name: 'http.request.resend_count', type: 'int' },
  messagingSystem: { name: 'messaging.system', type: 'string', values: ['kafka'] },
  messagingOperation: { name: 'messaging.operation.name', type: 'string', values: ['send', 'process'] },
  messagingOperationType: { name: 'messaging.operation.type', type: 'string', values: ['send', 'process'] },
  messagingDestination: {
    name: 'messaging.destination.name',
    type: 'string',
    values: ['inputs', 'dispatches', 'notices'],
  },
  tenant: { name: 'dormouse.tenant', type: 'string' },
  thread: { name: 'dormouse.thread', type: 'string' },
  call: { name: 'dormouse.call', type: 'string' },
  position: { name: 'dormouse.position', type: 'int' },
  outcome: { name: 'dormouse.outcome', type: 'string' },
  waitedMs: { name: 'dormouse.waited_ms', type: 'int' },
  at: { name: 'dormouse.at', type: 'string' },
} as const satisfies Readonly<Record<string, AttributeDescription>>;

type Described = typeof described;
export type AttributeName = Described[keyof Described]['name'];

export const attributeTable = Object.fromEntries(
  Object.values(described).map((each) => [each.name, each]),
) as unknown as Readonly<Record<AttributeName, AttributeDescription>>;

/** Names by our word. */
export const attribute = Object.fromEntries(Object.entries(described).map(([word, { name }]) => [word, name])) as {
  readonly [Word in keyof Described]: Described[Word]['name'];
};

export interface SpanDescription {
  /** Every span is one of these. */
  readonly name: RegExp;
  readonly kind: Span['kind'];
  readonly required: readonly AttributeName[];
}

/** Of every span of a thread. */
const ofThread = ['dormouse.tenant', 'dormouse.thread', 'gen_ai.conversation.id', 'dormouse.at'] as const;
const ofMessage = [
  'messaging.system',
  'messaging.operation.name',
  'messaging.operation.type',
  'messaging.destination.name',
] as const;

const ofTool = ['gen_ai.operation.name', 'gen_ai.tool.name', 'gen_ai.tool.call.id'] as const;

export const spanTable: readonly SpanDescription[] = [
  {
    name: /^invoke_agent \S+$/,
    kind: 'internal',
    required: [
      ...ofThread,
      'gen_ai.operation.name',
      'gen_ai.agent.id',
      'gen_ai.agent.name',
      'gen_ai.agent.version',
      'gen_ai.provider.name',
      'gen_ai.request.model',
      'gen_ai.usage.input_tokens',
      'gen_ai.usage.output_tokens',
      'dormouse.position',
    ],
  },
  {
    name: /^chat \S+$/,
    kind: 'client',
    required: [...ofThread, 'gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.stream'],
  },
  {
    name: /^execute_tool \S+$/,
    kind: 'internal',
    required: [...ofThread, ...ofTool, 'gen_ai.tool.type', 'dormouse.outcome'],
  },
  {
    name: /^settle_tool \S+$/,
    kind: 'internal',
    required: [...ofThread, ...ofTool, 'dormouse.outcome', 'dormouse.waited_ms'],
  },
  {
    /** Of the tool server, by its SDK, where the author has OpenTelemetry set up: `npm start` has for its examples. */
    name: /^run_tool \S+$/,
    kind: 'server',
    required: [...ofTool, 'gen_ai.conversation.id'],
  },
  { name: /^send (?:inputs|dispatches|notices)$/, kind: 'producer', required: [...ofThread, ...ofMessage] },
  { name: /^process (?:inputs|dispatches|notices)$/, kind: 'consumer', required: [...ofThread, ...ofMessage] },
  {
    name: /^(?:POST|PUT|PATCH|DELETE) \/\S+$/,
    kind: 'server',
    required: ['http.request.method', 'http.route', 'http.response.status_code'],
  },
  {
    name: /^(?:POST|PUT|PATCH|DELETE)$/,
    kind: 'server',
    required: ['http.request.method', 'http.response.status_code'],
  },
  {
    name: /^POST [a-z0-9][a-z0-9-]*$/,
    kind: 'client',
    required: ['http.request.method', 'server.address', 'server.port'],
  },
];
