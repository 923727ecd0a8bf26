// What specs register and ask for: the smallest that is valid, with the fields that a spec is about.
import { tenantId, type Agent, type ModelConfig, type ModelRequest, type ToolServer } from '@dormouse/ports';
import { defaultLimits, defaultPolicies, type ModelMessage } from '@dormouse/thread';

const acme = tenantId('acme');

export const toolServerOf = (fields: Partial<ToolServer> & Pick<ToolServer, 'baseUrl'>): ToolServer => ({
  tenant: acme,
  id: 'tsv_1',
  name: 'tools',
  createdAt: 0,
  updatedAt: 0,
  endpointOverride: null,
  auth: null,
  forwardUserId: false,
  trustAnnotations: false,
  pinnedSha256: null,
  paused: false,
  ...fields,
});

export const modelOf = (fields: Partial<ModelConfig> = {}): ModelConfig => ({
  provider: 'scripted',
  name: '',
  baseUrl: null,
  apiKeySecret: null,
  contextWindowTokens: 100_000,
  outputTokensMax: null,
  images: false,
  parameters: {},
  ...fields,
});

export const agentOf = (fields: Partial<Agent> = {}): Agent => ({
  tenant: acme,
  id: 'agt_1',
  name: 'worker',
  version: 1,
  createdAt: 0,
  instructions: '',
  contentSha256: '',
  model: modelOf(),
  toolServers: ['tools'],
  policies: defaultPolicies,
  limits: defaultLimits,
  ...fields,
});

export const modelRequestOf = (
  messages: readonly ModelMessage[],
  fields: Partial<Omit<ModelRequest, 'prompt'>> = {},
): ModelRequest => ({
  tenant: acme,
  thread: 'thr_1',
  completionId: 'cmp_1',
  ordinal: 0,
  model: modelOf(),
  instructions: '',
  prompt: { length: messages.length, last: async (count) => messages.slice(-count), all: async () => messages },
  tools: [],
  signal: new AbortController().signal,
  ...fields,
});
