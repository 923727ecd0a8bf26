// Deletes what a memory world has of a tenant. Port: ports/stores/tenant-eraser.ts.
import { noTenant, type TenantEraser, type TenantId } from '@dormouse/ports';
import type { DurablePart } from '../../durable-part.ts';
import type { Passage } from '../../gate.ts';

export function createTenantEraser(durable: DurablePart, passage: Passage): TenantEraser {
  return { erase: (tenant) => passage.write('eraser.erase', tenant, () => erase(durable, tenant)) };
}

function erase(durable: DurablePart, tenant: TenantId): number {
  const { registry, log, ledger, parked, toolActivity } = durable;
  const isOf = ({ tenant: owner }: { readonly tenant: TenantId }): boolean => owner === tenant;
  let rows = 0;
  const byName = [
    ...[log.threads, log.owed, durable.timers, parked.threads, parked.inputs, durable.views, durable.logins],
    ...[toolActivity.rows, toolActivity.discoveries, durable.callbackCounts, durable.inbox, durable.revokedTokens],
    durable.tenantTallies,
    ...[ledger.entries, ledger.attempts, durable.directory, durable.snapshots, durable.blobs, durable.idempotency],
    ...[registry.toolServers, registry.toolsets, registry.lastGood, registry.secrets, registry.held.threads],
    ...[durable.hooks.webhooks, durable.hooks.deliveries, durable.hooks.readers],
    ...[durable.arrivals.sources, durable.arrivals.deliveries, durable.schedules],
    ...[registry.userCredentials, durable.familyKeys, durable.erasures],
  ] as readonly Map<string, unknown>[];
  for (const map of byName) for (const name of map.keys()) if (isNameOf(name, tenant) && map.delete(name)) rows += 1;
  if (durable.auditLog.delete(tenant)) rows += 1;
  if (registry.pausedAgents.delete(tenant)) rows += 1;
  for (const [hash, key] of registry.apiKeys) if (isOf(key) && registry.apiKeys.delete(hash)) rows += 1;
  const kept = registry.agents.filter((agent) => !isOf(agent));
  rows += registry.agents.length - kept.length;
  registry.agents.splice(0, registry.agents.length, ...kept);
  for (const [nth, commit] of log.arrived.entries())
    if (isOf(commit)) log.arrived[nth] = { ...commit, tenant: noTenant, body: '' }; // the places of the others stay
  return rows;
}

/** Names are `tenant:…`, or the JSON of a list that begins with it. */
const isNameOf = (name: string, tenant: TenantId): boolean =>
  name.startsWith(`${tenant}:`) || name.startsWith(`[${JSON.stringify(tenant)},`);
