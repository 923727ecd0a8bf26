export { createGuardedFetch, type GuardedFetch, type GuardedFetchOptions } from './guarded-fetch.ts';
export {
  parseOutboundAllow,
  tenantEntryProblem,
  type OutboundAllow,
  type OutboundRule,
  type TenantOutbound,
} from './outbound-allow.ts';
export {
  createOutboundGuard,
  readUrl,
  type GuardVerdict,
  type OutboundGuard,
  type Resolver,
} from './outbound-guard.ts';
export { createRefreshGrant } from './refresh-grant.ts';
export { createToolTransport, type ToolTransportOptions } from './tool-transport.ts';
export { createWebhookTransport, type WebhookTransportOptions } from './webhook-transport.ts';
export { createVaultTransit, vaultKeyPattern, type VaultTransitOptions } from './vault-transit.ts';
