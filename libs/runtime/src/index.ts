export type { AuditSigner, SignedRoot } from './audit/audit-api.ts';
export type { AuditAction, AuditEntry, Requester } from './audit/audit-entry.ts';
export { type Auditor, createAuditor } from './audit/auditor.ts';
export { measuredCallbacks, measuredDedup } from './metrics/measured-callbacks.ts';
export { measuredDispatches, measuredLedger } from './metrics/measured-dispatches.ts';
export { measuredProcessorPorts } from './metrics/measured-processor.ts';
export { measuredTransport } from './metrics/measured-transport.ts';
export type { Measuring } from './metrics/measuring.ts';
export { nextTime } from './thread-processor/rules/next-time.ts';
export * from './log/envelope.ts';
export * from './service.ts';
export * from './tracing/index.ts';
export * from './log/thread-reader.ts';
export { createToolWatch, type ToolWatch } from './tool-health/tool-watch.ts';
export { watchedFeed, watchedService, watchedTransport } from './tool-health/watched-ports.ts';
export { type AgentContent } from './ingress-gateway/registry/agents.ts';
export {
  allScopes,
  type EndedKey,
  type Granting,
  hasScope,
  newKey,
  type NewApiKey,
} from './ingress-gateway/access/api-keys.ts';
export type { OpenedSession, Session, SessionApi } from './ingress-gateway/access/sessions.ts';
export { apiCodec, apiJson } from './ingress-gateway/read/api-json.ts';
export { type ApiEvent, apiEvent } from './ingress-gateway/read/events.ts';
export { placedEvents } from './ingress-gateway/read/log-scan.ts';
export { inputIdOf, publicId, type RequestOrigin, requestNames } from './ingress-gateway/access/client-id.ts';
export type { Sees, TenantEvent, TenantEventPage } from './ingress-gateway/watch/tenant-events.ts';
export type { Frame } from './ingress-gateway/watch/follow.ts';
export type { GivenAnswer } from './ingress-gateway/write/choices.ts';
export type { InboxRow } from './ingress-gateway/write/inbox.ts';
export { answerLinkPrefix, answerLinkTtlSMax } from './ingress-gateway/access/answer-link.ts';
export type { AnswerLinkApi, LinkGiven, LinkState, ShownLink } from './ingress-gateway/write/answer-links.ts';
export { createIngress, type Ingress } from './ingress-gateway/ingress.ts';
export type { IngressPorts } from './ingress-gateway/ingress-ports.ts';
export type { MessageItem } from './ingress-gateway/write/message-content.ts';
export type { PostedMessage } from './ingress-gateway/write/messages.ts';
export { debtKinds } from './ingress-gateway/write/reconcile.ts';
export { createInputSweeper } from './ingress-gateway/write/input-sweeper.ts';
export type { Answered, Precondition, Refusal, RefusalCode } from './ingress-gateway/refusal.ts';
export type { HookAnswer } from './arrivals/hooks.ts';
export type { ScheduleContent } from './arrivals/schedule-api.ts';
export { createScheduler } from './arrivals/scheduler.ts';
export type { SignedDelivery } from './arrivals/signature.ts';
export type { SourceContent } from './arrivals/source-api.ts';
export { inTurnsIf } from './in-turns.ts';
export { createErasureService } from './erasure/erasure-service.ts';
export { createUserNames, type UserNames } from './erasure/user-name.ts';
export { createFamilyKeyring, type FamilyKeyring } from './sealed/family-keyring.ts';
export { sealedStores } from './sealed/sealed-stores.ts';
export { answerIdOf, type Chunk } from './ui/ai-sdk/chunk.ts';
export { AiSdkEncoder, type MessageBeginning } from './ui/ai-sdk/encoder.ts';
export { UiHistory } from './ui/ai-sdk/message.ts';
export { AgUiEncoder, failedRun, type RunEvent, startedRun } from './ui/ag-ui/encoder.ts';
export type { ChoiceReply, OpenQuestion } from './ui/chats.ts';
export type { Watched } from './ui/watched.ts';
export type { Credential, CredentialEnd } from './ingress-gateway/access/revocations.ts';
export {
  type ThreadAbility,
  type ThreadGrant,
  threadTokenPrefix,
  type ThreadTokens,
  threadTokenTtlSMax,
} from './ingress-gateway/access/thread-token.ts';
export type { ToolServerContent, ToolServerPatch } from './ingress-gateway/registry/tool-servers.ts';
export type { TurnAnswer } from './ingress-gateway/watch/turn-wait.ts';
export type { ValidateArguments } from './thread-processor/completion/call-arguments.ts';
export { Hold } from './thread-processor/pay/held-deliveries.ts';
export { type ProcessorProtocol, soundProtocol } from './thread-processor/rules/protocol.ts';
export { defaultProcessorSettings, type ProcessorSettings } from './thread-processor/settings.ts';
export { createThreadProcessor, type ThreadProcessorDeps } from './thread-processor/thread-processor.ts';
export {
  createIdentityTokens,
  type IdentitySettings,
  type IdentityTokens,
  type RefusedIdentity,
} from './ingress-gateway/access/oidc/identity-token.ts';
export type { ReadDocument } from './ingress-gateway/access/oidc/issuer-keys.ts';
export type { CallbackRequest } from './callback-gateway/callback-body.ts';
export { createCallbackTally } from './callback-gateway/callback-tally.ts';
export {
  createCallbackGateway,
  type CallbackAnswer,
  type CallbackGateway,
  type CallbackGatewayDeps,
} from './callback-gateway/callback-gateway.ts';
export {
  createCallbackTokens,
  type CallbackKey,
  type CallbackScope,
  type CallbackTokens,
} from './callback-gateway/callback-token.ts';
export {
  createResealing,
  everySealed,
  placeOfCredentials,
  placeOfFamilyKeys,
  placeOfSecrets,
  placeOfSources,
  placeOfWebhooks,
  type Reseal,
} from './secrets/resealing.ts';
export { unsealed } from './secrets/unsealed.ts';
export { createUserTokens } from './secrets/user-tokens.ts';
export { createNotifier, type NotifierDeps } from './notifier/notifier.ts';
export { defaultDispatcherSettings, type DispatcherSettings } from './tool-dispatcher/settings.ts';
export { createToolDispatcher, type ToolDispatcherDeps } from './tool-dispatcher/tool-dispatcher.ts';
export { createHolding, type Holding } from './tenants/holding.ts';
export { createPausedAgents } from './tenants/paused-agents.ts';
export { createTenantRecords, type TenantRecords } from './tenants/tenant-records.ts';
export { attemptDelaysMs } from './webhooks/retry-times.ts';
export { createWebhookService, type WebhookServiceDeps } from './webhooks/webhook-service.ts';
export type { WebhookContent, WebhookPatch } from './ingress-gateway/hooks/webhooks.ts';
export type { ShownQuotas } from './tenants/quotas.ts';
export { parseModelPrices } from './tenants/model-prices.ts';
export { countedBlobs, countedInputs, createTenantLimits, type TenantLimits } from './tenants/tenant-limits.ts';
export { createTenantMeter } from './tenants/tenant-meter.ts';
export { createRetention } from './retention/retention.ts';
export { createTenantErasure } from './tenants/tenant-erasure.ts';
export type { MadeTenant, ShownTenant, TenantApi, TenantChanges } from './ingress-gateway/registry/tenants.ts';
