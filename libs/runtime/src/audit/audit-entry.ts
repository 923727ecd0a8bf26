// What the audit knows: the actions, and one of them before it has a place in the chain.
import type { TenantId } from '@dormouse/ports';

export const auditActions = [
  'key.created',
  'key.rerolled',
  'key.revoked',
  'auth.failed',
  'auth.forbidden',
  'secret.set',
  'secret.deleted',
  'agent.created',
  'agent.deleted',
  'agent.paused',
  'agent.resumed',
  'threads.interrupted',
  'threads.closed',
  'tool_server.created',
  'tool_server.changed',
  'tool_server.deleted',
  'tool_server.paused',
  'tool_server.resumed',
  'choice.allowed',
  'choice.denied',
  'choice.assigned',
  'link.created',
  'token.created',
  'token.revoked',
  'tool_call.sent',
  'tool_call.cancelled',
  'webhook.created',
  'webhook.changed',
  'webhook.rotated',
  'webhook.deleted',
  'webhook.disabled',
  'source.created',
  'source.deleted',
  'schedule.created',
  'schedule.deleted',
  'parked.replayed',
  'parked.dropped',
  'erasure.requested',
  'tenant.created',
  'tenant.changed',
  'tenant.suspended',
  'tenant.resumed',
  'audit.exported',
  'audit.trimmed',
  'threads.removed',
  'master_key.rotated',
  'credential.set',
  'credential.deleted',
] as const;

export type AuditAction = (typeof auditActions)[number];

/** Who asks, and from where; as in AuditRow. */
export interface Requester {
  readonly actor: string;
  readonly from: string | null;
  readonly requestId: string | null;
}

export interface AuditEntry extends Requester {
  readonly tenant: TenantId;
  readonly action: AuditAction;
  /** As in AuditRow. */
  readonly target: string | null;
  readonly outcome: string;
}
