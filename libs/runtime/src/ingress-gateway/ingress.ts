// The client API as plain functions over ports: one object per noun, composed here. Knows no HTTP.
import type { Logger, ThreadKey } from '@dormouse/ports';
import type { IngressPorts } from './ingress-ports.ts';
import { createErasureApi } from '../erasure/erasure-api.ts';
import { createUserNames } from '../erasure/user-name.ts';
import { createAuditApi } from '../audit/audit-api.ts';
import { createAgentApi } from './registry/agents.ts';
import { createAnswerLinks } from './access/answer-link.ts';
import { createAnswerLinkApi } from './write/answer-links.ts';
import { createKeyApi } from './access/api-keys.ts';
import { blobReader } from './read/blob-reader.ts';
import { createChoiceApi } from './write/choices.ts';
import { createInboxApi } from './write/inbox.ts';
import { requestNames } from './access/client-id.ts';
import { createEventApi } from './read/events.ts';
import { createFollowApi } from './watch/follow.ts';
import { onceByKey } from './access/idempotency.ts';
import { createMessageApi } from './write/messages.ts';
import { createParkedApi } from './write/parked.ts';
import { createProbe } from './registry/probe.ts';
import { createReadableApi } from './read/readable-messages.ts';
import { createReconcileApi } from './write/reconcile.ts';
import { createTenantApi } from './registry/tenants.ts';
import { createRevocations, type Credential } from './access/revocations.ts';
import { createThreadFamilies } from './access/thread-families.ts';
import { unlimited } from '../tenants/tenant-limits.ts';
import { createTenantRecords } from '../tenants/tenant-records.ts';
import { createRequestApi } from './write/requests.ts';
import { createSessionApi } from './access/sessions.ts';
import { createSecretApi } from './registry/secrets.ts';
import { createThreadBatches } from './write/thread-batch.ts';
import { createThreadLookup } from './write/thread-lookup.ts';
import { createThreadPartsApi } from './read/thread-parts.ts';
import { createThreadTokens } from './access/thread-token.ts';
import { createImportApi } from './transfer/imports.ts';
import { createTrials } from './registry/trial.ts';
import { createThreadApi } from './write/threads.ts';
import { createToolCallApi } from './read/tool-calls.ts';
import { createTurnApi } from './read/turns/turn-list.ts';
import { createToolServerApi } from './registry/tool-servers.ts';
import { createTenantEventApi } from './watch/tenant-events.ts';
import { createWebhookApi } from './hooks/webhooks.ts';
import { createUserCredentialApi } from '../secrets/user-credentials.ts';
import { createUsageApi } from './read/usage.ts';
import { createTurnWait, type WatchTurn } from './watch/turn-wait.ts';
import { createChats } from '../ui/chats.ts';
import { createDeliver } from '../arrivals/delivery.ts';
import { createExternalEventApi } from '../arrivals/external-events.ts';
import { createHookApi } from '../arrivals/hooks.ts';
import { createScheduleApi } from '../arrivals/schedule-api.ts';
import { createSourceApi } from '../arrivals/source-api.ts';

export interface Ingress extends ReturnType<typeof createIngress> {}

const nothing = (): void => {};
const silent: Logger = { info: nothing, warn: nothing, error: nothing };

export function createIngress(given: IngressPorts) {
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
    /** Tells when a credential ends. The holder must stop it. */
    watchCredential: (credential: Credential) => revocations.watch(credential),
    /** The agent of a thread; null for a thread that does not exist. @throws Fault */
    agentOf: (key: ThreadKey) => families.agentOf(key),
    once: onceByKey(ports),
    agents: createAgentApi(ports),
    secrets: createSecretApi(ports),
    toolServers: createToolServerApi(ports, probe),
    probe,
    tryTool: createTrials(ports, probe),
    threads,
    messages,
    watchTurn: ((key, withinMs, signal) => watchTurn(ports.threads.keyOf(key), withinMs, signal)) satisfies WatchTurn,
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
