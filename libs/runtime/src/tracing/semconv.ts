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

export interface AttributeDescription {
  readonly type: 'string' | 'int' | 'double' | 'boolean' | 'string[]' | 'json';
  readonly values?: readonly string[];
  /** (C3) */
  readonly isContent?: true;
}

export const attributeTable = {
  'gen_ai.operation.name': {
    type: 'string',
    values: ['invoke_agent', 'chat', 'execute_tool', 'settle_tool', 'run_tool'],
  },
  'gen_ai.agent.id': { type: 'string' },
  'gen_ai.agent.name': { type: 'string' },
  'gen_ai.agent.version': { type: 'string' },
  'gen_ai.conversation.id': { type: 'string' },
  'gen_ai.provider.name': {
    type: 'string',
    values: ['openai', 'anthropic', 'openai_compatible', 'demo', 'scripted'],
  },
  'gen_ai.request.model': { type: 'string' },
  'gen_ai.request.stream': { type: 'boolean' },
  'gen_ai.response.id': { type: 'string' },
  'gen_ai.response.model': { type: 'string' },
  'gen_ai.response.finish_reasons': { type: 'string[]' },
  'gen_ai.response.time_to_first_chunk': { type: 'double' },
  'gen_ai.usage.input_tokens': { type: 'int' },
  'gen_ai.usage.output_tokens': { type: 'int' },
  'gen_ai.usage.cache_read.input_tokens': { type: 'int' },
  'gen_ai.usage.cache_creation.input_tokens': { type: 'int' },
  'gen_ai.tool.name': { type: 'string' },
  'gen_ai.tool.call.id': { type: 'string' },
  'gen_ai.tool.type': { type: 'string', values: ['function'] },
  'gen_ai.tool.description': { type: 'string', isContent: true },
  'gen_ai.tool.call.arguments': { type: 'json', isContent: true },
  'gen_ai.tool.call.result': { type: 'json', isContent: true },
  'gen_ai.input.messages': { type: 'json', isContent: true },
  'gen_ai.output.messages': { type: 'json', isContent: true },
  'error.type': { type: 'string' },
  'server.address': { type: 'string' },
  'server.port': { type: 'int' },
  'http.request.method': { type: 'string', values: ['POST', 'PUT', 'PATCH', 'DELETE'] },
  'http.route': { type: 'string' },
  'http.response.status_code': { type: 'int' },
  'http.request.resend_count': { type: 'int' },
  'messaging.system': { type: 'string', values: ['kafka'] },
  'messaging.operation.name': { type: 'string', values: ['send', 'process'] },
  'messaging.operation.type': { type: 'string', values: ['send', 'process'] },
  'messaging.destination.name': { type: 'string', values: ['inputs', 'dispatches', 'notices'] },
  'dormouse.tenant': { type: 'string' },
  'dormouse.thread': { type: 'string' },
  'dormouse.call': { type: 'string' },
  'dormouse.position': { type: 'int' },
  'dormouse.outcome': { type: 'string' },
  'dormouse.waited_ms': { type: 'int' },
  'dormouse.at': { type: 'string' },
} as const satisfies Readonly<Record<string, AttributeDescription>>;

export type AttributeName = keyof typeof attributeTable;

export const attribute = {
  operation: 'gen_ai.operation.name',
  agentId: 'gen_ai.agent.id',
  agentName: 'gen_ai.agent.name',
  agentVersion: 'gen_ai.agent.version',
  conversation: 'gen_ai.conversation.id',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  requestStream: 'gen_ai.request.stream',
  responseId: 'gen_ai.response.id',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheCreationTokens: 'gen_ai.usage.cache_creation.input_tokens',
  toolName: 'gen_ai.tool.name',
  toolCallId: 'gen_ai.tool.call.id',
  toolType: 'gen_ai.tool.type',
  toolDescription: 'gen_ai.tool.description',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  errorType: 'error.type',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  httpMethod: 'http.request.method',
  httpRoute: 'http.route',
  httpStatus: 'http.response.status_code',
  httpResendCount: 'http.request.resend_count',
  messagingSystem: 'messaging.system',
  messagingOperation: 'messaging.operation.name',
  messagingOperationType: 'messaging.operation.type',
  messagingDestination: 'messaging.destination.name',
  tenant: 'dormouse.tenant',
  thread: 'dormouse.thread',
  call: 'dormouse.call',
  position: 'dormouse.position',
  outcome: 'dormouse.outcome',
  waitedMs: 'dormouse.waited_ms',
  at: 'dormouse.at',
} as const satisfies Readonly<Record<string, AttributeName>>;

export interface SpanDescription {
  /** Every span is one of these. */
  readonly name: RegExp;
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
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
    required: [
      ...ofThread,
      'gen_ai.operation.name',
      'gen_ai.tool.name',
      'gen_ai.tool.call.id',
      'gen_ai.tool.type',
      'dormouse.outcome',
    ],
  },
  {
    name: /^settle_tool \S+$/,
    kind: 'internal',
    required: [
      ...ofThread,
      'gen_ai.operation.name',
      'gen_ai.tool.name',
      'gen_ai.tool.call.id',
      'dormouse.outcome',
      'dormouse.waited_ms',
    ],
  },
  {
    /** Of the tool server, by its SDK, where the author has OpenTelemetry set up: `npm start` has for its examples. */
    name: /^run_tool \S+$/,
    kind: 'server',
    required: ['gen_ai.operation.name', 'gen_ai.tool.name', 'gen_ai.tool.call.id', 'gen_ai.conversation.id'],
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
