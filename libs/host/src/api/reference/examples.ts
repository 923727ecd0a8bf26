// Bodies and answers for readers. A spec holds them to the schemas, and a test sends every body to a running system and
// compares what comes back.
import { newAgent } from '../agents.ts';
import { newToolServer } from '../tool-servers.ts';

export interface Example {
  readonly body?: unknown;
  /** By status. */
  readonly answers?: Readonly<Record<number, unknown>>;
}

const at = '2026-01-05T09:30:00.000Z';
const thread = 'thr_01KE6HWA00J3Q7ZVY6M4T8C2PD';
const message = 'msg_01KE6HWA00L9K7J5H3G1F2D4SA';
const tenantCursor = '~5B~22events~22~2C~2217~22~5D';

const agentBody = {
  name: 'weather',
  instructions: 'You answer questions about the weather.',
  model: { provider: 'demo' },
  tool_servers: ['example-tools'],
  policies: { approve: { mode: 'destructive', tools: { delete_everything: 'always' } } },
  limits: { tool_timeout_ms: { slow_job: 600_000 } },
};
const { name: agentName, ...agentContent } = newAgent.parse(agentBody);

const toolServerBody = {
  name: 'weather-tools',
  base_url: 'https://tools.example.com',
  auth: { type: 'bearer', secret: 'tools_key' },
};
const { name: toolServerName, ...registration } = newToolServer.parse(toolServerBody);

const toolServer = {
  id: 'tsv_01KE6HWA00N9B5X2S7D4F6G8HJ',
  name: toolServerName,
  created_at: at,
  updated_at: at,
  ...registration,
  paused: false,
  state: 'active',
};

const choice = {
  id: 'chc_01KE6HWA00R4T6Y8U2W3E5Q7AB',
  kind: 'approval',
  tool_call_id: 'call_01KE6HWA00Q1W3E5R7T9Y2U4PS',
  prompt: 'Allow delete_everything?',
  choices: ['allow', 'deny', 'allow_for_thread'],
  default: 1,
  arguments: {},
  arguments_hash: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
  expires_at: '2026-01-06T09:30:00.000Z',
};

const newSource = {
  name: 'issues',
  kind: 'github',
  secret: 'github_hook',
  agent: 'weather',
  key: '/issue/id',
  message: '{{/sender/login}} has {{/action}} the issue “{{/issue/title}}”:\n{{/issue/body}}',
};

const newWebhook = {
  url: 'https://app.example.com/hooks/dormouse',
  events: ['thread.idle', 'choice.requested'],
  filter: { agents: ['weather'] },
};

export const examples: Readonly<Record<string, Example>> = {
  createAgent: {
    body: agentBody,
    answers: {
      201: {
        id: 'agt_01KE6HWA00A2S4D6F8G1H3J5KL',
        name: agentName,
        version: 1,
        created_at: at,
        ...agentContent,
        state: 'active',
      },
    },
  },
  patchAgent: { body: { state: 'paused' } },
  putUserCredential: { body: { type: 'bearer', value: 'not-a-real-token' } },
  putSecret: { body: { value: 'not-a-real-key', origins: ['https://tools.example.com'] } },
  createToolServer: { body: toolServerBody, answers: { 201: { ...toolServer, warnings: [] } } },
  patchToolServer: { body: { forward_user_id: true }, answers: { 200: { ...toolServer, forward_user_id: true } } },
  tryTool: { body: { operation: 'weather', arguments: { city: 'Oslo' } } },
  signIn: { body: { key: 'dm_not-a-real-key' } },
  openThread: {
    body: {
      agent: 'weather',
      user_id: 'user-7',
      external_id: 'order-4711',
      if_exists: 'return',
      metadata: { channel: 'web' },
      message: { text: 'Will it rain in Oslo?' },
    },
  },
  patchThread: { body: { title: 'Rain in Oslo', metadata: { channel: 'web', priority: 'high' } } },
  // oxlint-disable-next-line unicorn/no-thenable -- the API’s own name
  forkThread: { body: { position: 1, then: 'wait' } },
  interruptThread: { body: { include_human: true }, answers: { 202: { id: 'req_01KE6HWA00Z8X6C4V2B1N3M5QW' } } },
  batchThreads: {
    body: { action: 'close', filter: { agent: 'weather', metadata: { channel: 'web' } }, dry_run: true },
    answers: { 202: { matched: 12, next_cursor: null } },
  },
  postMessage: {
    body: { text: 'And tomorrow?' },
    answers: {
      200: { id: message, position: 17, status: 'idle', message: { text: 'Tomorrow will be dry.' } },
      202: { id: message },
    },
  },
  listMessages: {
    answers: {
      200: {
        data: [
          { position: 3, at, role: 'user', text: 'Will it rain in Oslo?', message_id: message },
          { position: 9, at, role: 'assistant', text: 'No, it stays dry.' },
        ],
        next_cursor: null,
      },
    },
  },
  listEvents: {
    answers: {
      200: {
        data: [
          {
            position: 3,
            at,
            type: 'message_accepted',
            turn_id: message,
            cause: { kind: 'message', id: message },
            message_id: message,
            content: [{ type: 'text', text: 'Will it rain in Oslo?' }],
          },
        ],
        next_cursor: '3',
      },
    },
  },
  listTenantEvents: {
    answers: {
      200: {
        data: [{ cursor: tenantCursor, thread_id: thread, position: 3, type: 'message_accepted', at }],
        next_cursor: tenantCursor,
      },
    },
  },
  listChoices: { answers: { 200: { data: [choice], next_cursor: null } } },
  answerChoice: { body: { decision: 'deny', reason: 'Not on a Friday.', decided_by: 'ann@example.com' } },
  answerInboxChoice: { body: { decision: 'deny', reason: 'Not on a Friday.' } },
  decideBatch: { body: { decisions: [{ id: choice.id, decision: 'deny' }] } },
  assignChoice: { body: { assignees: ['ann@example.com'] } },
  createAnswerLink: { body: { for: 'ann@example.com', ttl_s: 3_600, can: ['allow', 'deny'] } },
  aiSdkSend: {
    body: { id: 'chat-1', messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }] },
  },
  agUiRun: { body: { threadId: 'chat-1', runId: 'run-1', messages: [{ id: 'm1', role: 'user', content: 'Hello' }] } },
  addSchedule: { body: { cron: '0 9 * * 1-5', time_zone: 'Europe/Vienna', message: 'What is new?' } },
  issueThreadToken: { body: { can: ['read', 'message'], user_id: 'user-7', ttl_s: 3_600 } },
  migrateThread: { body: { tool_servers: { 'example-tools': 'https://tools-2.example.com' } } },
  createSchedule: {
    body: {
      ...{ name: 'standup', cron: '0 9 * * 1-5', time_zone: 'Europe/Vienna', agent: 'weather' },
      ...{ message: 'What is new? It is {{/scheduled_for}}.', external_id: 'standup' },
    },
  },
  postEvent: { body: { source: 'billing', id: 'evt-41', text: 'The payment of invoice 7 has failed.' } },
  createSource: {
    body: newSource,
    answers: {
      201: {
        id: 'src_01KE6HWA00P3L6K9J2H5G8F1DS',
        ...newSource,
        created_at: at,
        url: 'https://dormouse.example.com/hooks/issues/o7fW…',
      },
    },
  },
  createErasure: { body: { user_id: 'user-7' } },
  createTenant: { body: { id: 'acme', name: 'Acme, Inc.', quotas: { requests_per_s: 50 } } },
  patchTenant: { body: { state: 'suspended' } },
  rerollApiKey: { body: { overlap_s: 3600 } },
  createApiKey: { body: { name: 'backend', scopes: ['read', 'threads:write'] } },
  beginBackup: { body: { directory: '/backups/dormouse-2026-01-05' } },
  advanceClock: { body: { advance_ms: 60_000 } },
  importThread: {
    body: {
      of: 'd'.repeat(64),
      origin: null,
      commits: [
        {
          v: 1,
          tenant: 'default',
          thread,
          version: 0,
          count: 1,
          inputs: [`open:${thread}`],
          at: 1_767_605_400_000,
          nonce: 'n1',
          trace: null,
          kid: null,
          prev: '',
          hash: 'd'.repeat(64),
          body: '{"events":[],"effects":[]}',
        },
      ],
      last: true,
    },
  },
  dropParked: { body: { input: 'c:01KE6HWA00L9K7J5H3G1F2D4SA' } },
  importBlob: {
    body: {
      sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
      media_type: 'text/plain',
      data: 'aGVsbG8=',
    },
  },
  createWebhook: {
    body: newWebhook,
    answers: {
      201: {
        id: 'whk_01KE6HWA00G5H7J9K1L3Z5X7CV',
        ...newWebhook,
        state: 'active',
        created_at: at,
        updated_at: at,
        problems: [],
        secret: 'whsec_bm90IGEgcmVhbCBzZWNyZXQsIGFuIGV4YW1wbGU=',
      },
    },
  },
  patchWebhook: { body: { state: 'active' } },
  recoverWebhook: { body: { since: '2026-01-05T00:00:00.000Z' } },
  getThread: {
    answers: {
      200: {
        id: thread,
        agent: { name: 'weather', version: 1 },
        status: 'idle',
        parent: null,
        family: thread,
        title: 'Rain in Oslo',
        user_id: 'user-7',
        external_id: 'order-4711',
        metadata: { channel: 'web' },
        created_at: at,
        updated_at: at,
        position: 9,
        waiting: null,
        waiting_on: [],
        subscriptions: [],
        usage: {
          input_tokens: 212,
          output_tokens: 31,
          completions: 2,
          tool_calls: 1,
          active_ms: 1_840,
          waiting_ms: 420,
        },
        last_error: null,
        problems: [],
        toolsets: [{ tool_server: 'example-tools', sha256: 'd'.repeat(64), tools: ['weather', 'clock'], stale: false }],
      },
    },
  },
};

export const exampleOf = (operation: string): Example | undefined => examples[operation];
