// The client API as plain functions over ports: one object per noun, composed here. Knows no HTTP.
import type {
  Clock,
  Entropy,
  IdempotencyKeys,
  InputBus,
  Logger,
  Sealer,
  Stores,
  ToolTransport,
  WebhookTransport,
} from '@dormouse/ports';
import { createErasureApi, type ErasureApi } from '../erasure/erasure-api.ts';
import { createUserNames, type UserNames } from '../erasure/user-name.ts';
import { type AuditApi, type AuditSigner, createAuditApi } from '../audit/audit-api.ts';
import type { CallbackTokens } from '../callback-gateway/callback-token.ts';
import { type AgentApi, createAgentApi } from './registry/agents.ts';
import { createAnswerLinks } from './access/answer-link.ts';
import { type AnswerLinkApi, createAnswerLinkApi } from './write/answer-links.ts';
import { createKeyApi, type KeyApi } from './access/api-keys.ts';
import { blobReader, type ReadBlob } from './read/blob-reader.ts';
import { type ChoiceApi, createChoiceApi } from './write/choices.ts';
import { createInboxApi, type InboxApi } from './write/inbox.ts';
import { requestNames } from './access/client-id.ts';
import { createEventApi, type EventApi } from './read/events.ts';
import { createFollowApi, type FollowApi } from './watch/follow.ts';
import { type Once, onceByKey } from './access/idempotency.ts';
import { createMessageApi, type MessageApi } from './write/messages.ts';
import { createParkedApi, type ParkedApi } from './write/parked.ts';
import { createProbe, type Probe } from './registry/probe.ts';
import { createReadableApi, type ReadableApi } from './read/readable-messages.ts';
import { createReconcileApi, type ReconcileApi } from './write/reconcile.ts';
import { createTenantApi, type TenantApi } from './registry/tenants.ts';
import { createRevocations, type Revocations } from './access/revocations.ts';
import { createThreadFamilies, type ThreadFamilies } from './access/thread-families.ts';
import type { ShownQuotas } from '../tenants/quotas.ts';
import { type TenantLimits, unlimited } from '../tenants/tenant-limits.ts';
import { createTenantRecords, type TenantRecords } from '../tenants/tenant-records.ts';
import { createRequestApi, type RequestApi } from './write/requests.ts';
import { createSessionApi, type SessionApi } from './access/sessions.ts';
import { createSecretApi, type SecretApi } from './registry/secrets.ts';
import { createThreadBatches, type RunBatch } from './write/thread-batch.ts';
import { createThreadLookup } from './write/thread-lookup.ts';
import { createThreadPartsApi, type ThreadPartsApi } from './read/thread-parts.ts';
import { createThreadTokens, type ThreadTokenPorts, type ThreadTokens } from './access/thread-token.ts';
import { createImportApi, type ImportApi } from './transfer/imports.ts';
import { createTrials, type TryTool } from './registry/trial.ts';
import { createThreadApi, type ThreadApi } from './write/threads.ts';
import { createToolCallApi, type ToolCallApi } from './read/tool-calls.ts';
import { createTurnApi, type TurnApi } from './read/turns/turn-list.ts';
import { createToolServerApi, type ToolServerApi } from './registry/tool-servers.ts';
import { createTenantEventApi, type TenantEventApi } from './watch/tenant-events.ts';
import { createWebhookApi, type WebhookApi } from './hooks/webhooks.ts';
import { createUserCredentialApi, type UserCredentialApi } from '../secrets/user-credentials.ts';
import { createUsageApi, type UsageApi } from './read/usage.ts';
import { createTurnWait, type WatchTurn } from './watch/turn-wait.ts';
import { type Chats, createChats } from '../ui/chats.ts';
import { createDeliver, type Deliver } from '../arrivals/delivery.ts';
import { createExternalEventApi, type ExternalEventApi } from '../arrivals/external-events.ts';
import { createHookApi, type HookApi } from '../arrivals/hooks.ts';
import { createScheduleApi, type ScheduleApi } from '../arrivals/schedule-api.ts';
import { createSourceApi, type SourceApi } from '../arrivals/source-api.ts';
import type { ValidateArguments } from '../thread-processor/completion/call-arguments.ts';

type IngressStores = Pick<
  Stores,
  | ('log' | 'tenantLog' | 'snapshots' | 'directory' | 'parked' | 'ledger' | 'callbackCounts')
  | 'feed'
  | ('agents' | 'toolServers' | 'toolsets' | 'toolActivity' | 'secrets' | 'apiKeys')
  | ('blobs' | 'views' | 'logins' | 'revokedTokens' | 'inbox' | 'auditLog')
  | ('tenants' | 'userCredentials' | 'erasures' | 'remover')
  | ('webhooks' | 'webhookDeliveries' | 'webhookReaders')
  | ('sources' | 'deliveries' | 'schedules')
>;

export interface IngressPorts extends IngressStores {
  readonly bus: InputBus;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly transport: ToolTransport;
  readonly webhookTransport: Pick<WebhookTransport, 'judge'>;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly sealer: Sealer;
  /** Where a secret of this name goes when it names no origin. Default: none. */
  readonly secretOrigins?: Readonly<Record<string, string>>;
  readonly callbackTokens: CallbackTokens;
  /** Null where arguments are left to the tool server. */
  readonly validateArguments: ValidateArguments | null;
  /** Where a tenant has no quota of its own. Default: the standard ones. */
  readonly quotas?: Partial<ShownQuotas>;
  /** Default: no tenant has a quota. */
  readonly limits?: TenantLimits;
  /** Signs thread tokens and answer links; the same in every process, kept out of every store. */
  readonly signingKey: ThreadTokenPorts['signingKey'];
  readonly auditSigner: AuditSigner;
  /** Names end users in erasures. Default: under a key that is no secret. */
  readonly userNames?: UserNames;
  /** Signed deliveries of sources. Default: at no address, by the clock above, and without a log. */
  readonly hooks?: {
    /** `https://host[/prefix]` of this installation, as senders reach it. */
    readonly publicBase: string;
    /** Milliseconds since the epoch, by the clock of senders. */
    readonly wallNow: () => number;
    readonly logger: Logger;
  };
}

export interface Ingress {
  readonly keys: KeyApi;
  readonly tenants: TenantApi;
  readonly tenantRecords: TenantRecords;
  readonly limits: TenantLimits;
  readonly sessions: SessionApi;
  readonly tokens: ThreadTokens;
  /** Tells when a credential ends. The holder must stop it. */
  readonly watchCredential: Revocations['watch'];
  /** The agent of a thread; null for a thread that does not exist. @throws Fault */
  readonly agentOf: ThreadFamilies['agentOf'];
  readonly once: Once;
  readonly agents: AgentApi;
  readonly secrets: SecretApi;
  readonly toolServers: ToolServerApi;
  readonly probe: Probe;
  readonly tryTool: TryTool;
  readonly threads: ThreadApi;
  readonly messages: MessageApi;
  readonly watchTurn: WatchTurn;
  readonly readable: ReadableApi;
  readonly requests: RequestApi;
  readonly batch: RunBatch;
  readonly choices: ChoiceApi;
  readonly inbox: InboxApi;
  readonly answerLinks: AnswerLinkApi;
  readonly chats: Chats;
  readonly toolCalls: ToolCallApi;
  readonly turns: TurnApi;
  readonly events: EventApi;
  readonly follow: FollowApi;
  readonly tenantEvents: TenantEventApi;
  readonly parked: ParkedApi;
  readonly reconcile: ReconcileApi;
  readonly parts: ThreadPartsApi;
  readonly imports: ImportApi;
  readonly blob: ReadBlob;
  readonly userCredentials: UserCredentialApi;
  readonly usage: UsageApi;
  readonly audit: AuditApi;
  readonly erasures: ErasureApi;
  readonly webhooks: WebhookApi;
  readonly externalEvents: ExternalEventApi;
  readonly sources: SourceApi;
  readonly hooks: HookApi;
  readonly schedules: ScheduleApi;
  readonly deliver: Deliver;
}

const nothing = (): void => {};
const silent: Logger = { info: nothing, warn: nothing, error: nothing };

export function createIngress(given: IngressPorts): Ingress {
  const records = createTenantRecords(given);
  const keys = createKeyApi(given);
  const families = createThreadFamilies(given);
  const revocations = createRevocations({ ...given, records, keys });
  const audit = createAuditApi(given);
  const { limits = unlimited } = given;
  const ports = { ...given, limits, threads: createThreadLookup(given), mintName: requestNames(given), audit };
  const { hooks = { publicBase: '', wallNow: () => given.clock.now(), logger: silent } } = given;
  const watchTurn = createTurnWait(ports);
  const probe = createProbe(ports);
  const choices = createChoiceApi(ports);
  const inbox = createInboxApi(ports, choices);
  const threads = createThreadApi(ports);
  const deliver = createDeliver(ports, threads);
  const messages = createMessageApi(ports);
  const requests = createRequestApi(ports);
  const follow = createFollowApi(ports);
  return {
    keys,
    tenants: createTenantApi({ ...ports, records, keys }),
    tenantRecords: records,
    limits,
    sessions: createSessionApi(ports, keys),
    tokens: createThreadTokens({ ...ports, revocations, families }),
    watchCredential: (credential) => revocations.watch(credential),
    agentOf: (key) => families.agentOf(key),
    once: onceByKey(ports),
    agents: createAgentApi(ports),
    secrets: createSecretApi(ports),
    toolServers: createToolServerApi(ports, probe),
    probe,
    tryTool: createTrials(ports, probe),
    threads,
    messages,
    watchTurn: (key, withinMs, signal) => watchTurn(ports.threads.keyOf(key), withinMs, signal),
    readable: createReadableApi(ports),
    requests,
    batch: createThreadBatches({ ...given, requests }),
    choices,
    inbox,
    answerLinks: createAnswerLinkApi({ ...ports, links: createAnswerLinks(given), records, inbox, choices }),
    toolCalls: createToolCallApi(ports),
    turns: createTurnApi(ports),
    events: createEventApi(ports),
    follow,
    tenantEvents: createTenantEventApi(ports),
    chats: createChats(ports, { threads, messages, choices, requests, follow }),
    parked: createParkedApi(ports),
    reconcile: createReconcileApi(ports),
    parts: createThreadPartsApi(ports),
    imports: createImportApi(ports),
    blob: blobReader(ports),
    userCredentials: createUserCredentialApi(ports),
    usage: createUsageApi(ports),
    audit,
    erasures: createErasureApi({ ...given, userNames: given.userNames ?? createUserNames([new Uint8Array(32)]) }),
    webhooks: createWebhookApi(given),
    externalEvents: createExternalEventApi(ports),
    sources: createSourceApi({ ...ports, ...hooks }),
    hooks: createHookApi({ ...ports, ...hooks, records }, deliver),
    schedules: createScheduleApi(ports),
    deliver,
  };
}
