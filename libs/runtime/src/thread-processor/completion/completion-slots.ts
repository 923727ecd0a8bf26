// A fair semaphore: how many completions may run in this process at once. A slot is held only while a model is asked.
//
// Invariants:
//   L1. At most `max` slots are out. A free slot is given at once to a completion whose group is within its share.
//   L2. Waiting tenants are served by deficit round robin with their weights, and within a tenant its endpoints in
//       rotation, in order: a burst delays itself.
//   L3. A share shrinks with the free slots: a tenant holds at most `tenantShare` slots for each free one, an endpoint
//       at most `endpointShare` for each that its tenant may still take; and some are kept for tenants and endpoints
//       that have none. Beside a heavier tenant the share is less, by their weights. However many completions of some
//       tenants or endpoints hang, others find a slot.
//   L4. At most `waitingMax` wait, those of one tenant no more than it leaves room for others (shared-room); a waiting
//       completion is its entry here and nothing else.
//   L5. A tenant runs no more of them than its quota, counted over all processes. One that waits because of that is
//       served when a slot of the tenant is given back here, or by `look` when another process has given one back.
import type { TenantId } from '@dormouse/ports';
import { createDeficitRounds, createHeaviest, createSharedRoom } from '@dormouse/collections';
import { type TenantLimits, unlimited } from '../../tenants/tenant-limits.ts';

/** Slots are shared by tenant, and within a tenant by the endpoint of the model. */
export interface SlotGroup {
  readonly tenant: TenantId;
  readonly endpoint: string;
}

/** A completion that waits. */
export interface SlotWaiter extends SlotGroup {
  /** It has a slot now. Called once, unless it has left before. */
  serve(): void;
}

/** What is known of tenants. */
export type SlotLimits = Pick<TenantLimits, 'weightOf' | 'completionsLeft' | 'completionsHere'>;

export interface CompletionSlots {
  /** Whether a slot was taken. */
  take(group: SlotGroup): boolean;
  /** Queues the waiter behind the others of its group; false when too many of its tenant wait. (L4) */
  wait(waiter: SlotWaiter): boolean;
  /** False when it no longer waits. */
  leave(waiter: SlotWaiter): boolean;
  give(group: SlotGroup): void;
  /** Serves those that may be served by now. (L5) */
  look(): void;
  readonly waiting: number;
  readonly taken: number;
}

const tenantShare = 7;
const endpointShare = 12;
/** One slot in so many is kept for tenants that have none, and of a tenant's room for endpoints that have none. */
const keptShare = 50;

interface Endpoint {
  taken: number;
  readonly queue: Set<SlotWaiter>;
}

interface Tenant {
  readonly name: TenantId;
  /** When it took its first slot, or began to wait. */
  readonly weight: number;
  taken: number;
  /** In the order of service. */
  readonly endpoints: Map<string, Endpoint>;
}

export function createCompletionSlots(
  max: number,
  waitingMax = Number.POSITIVE_INFINITY,
  limits: SlotLimits = unlimited,
): CompletionSlots {
  /** Tenants that hold a slot or wait for one. */
  const tenants = new Map<TenantId, Tenant>();
  /** Tenants that wait for one. */
  const rounds = createDeficitRounds<TenantId>((name) => limits.weightOf(name));
  const heaviest = createHeaviest();
  const kept = Math.max(1, Math.floor(max / keptShare));
  /** Of those that wait. (L4) */
  const room = createSharedRoom(waitingMax);
  let taken = 0;

  function tenantOf(name: TenantId): Tenant {
    const known = tenants.get(name);
    if (known !== undefined) return known;
    const made: Tenant = { name, weight: limits.weightOf(name), taken: 0, endpoints: new Map() };
    tenants.set(name, made);
    heaviest.add(made.weight);
    return made;
  }

  function endpointOf({ endpoints }: Tenant, name: string): Endpoint {
    const known = endpoints.get(name);
    if (known !== undefined) return known;
    const made: Endpoint = { taken: 0, queue: new Set() };
    endpoints.set(name, made);
    return made;
  }

  function forgetIdle({ tenant: name, endpoint: of }: SlotGroup): void {
    const tenant = tenants.get(name);
    const endpoint = tenant?.endpoints.get(of);
    if (tenant === undefined || endpoint === undefined) return;
    if (endpoint.taken === 0 && endpoint.queue.size === 0) tenant.endpoints.delete(of);
    if (!isWaiting(tenant)) rounds.delete(name);
    if (tenant.endpoints.size === 0 && tenants.delete(name)) heaviest.delete(tenant.weight);
  }

  /** Slots that this tenant may still take, if no other tenant takes any. (L3) */
  function roomOf(tenant: Tenant): number {
    const free = max - taken;
    const share = (tenantShare * tenant.weight) / heaviest.weight;
    return tenant.taken === 0 ? free : (share * (free - kept) - tenant.taken) / (share + 1);
  }

  /** (L3) */
  const mayTake = (tenant: Tenant, endpoint: Endpoint): boolean => {
    if (taken >= max || limits.completionsLeft(tenant.name, tenant.taken) < 1) return false;
    const room = roomOf(tenant);
    return endpoint.taken === 0 ? room > 0 : endpoint.taken < endpointShare * (room - kept);
  };

  function count(tenant: Tenant, endpoint: Endpoint, change: 1 | -1): void {
    taken += change;
    tenant.taken += change;
    endpoint.taken += change;
    limits.completionsHere(tenant.name, tenant.taken); // (L5)
  }

  const isWaiting = ({ endpoints }: Tenant): boolean => {
    for (const { queue } of endpoints.values()) if (queue.size > 0) return true;
    return false;
  };

  /** The next endpoint of the tenant with a waiter that may have a slot. */
  function nextOf(tenant: Tenant): readonly [name: string, endpoint: Endpoint, waiter: SlotWaiter] | null {
    for (const [name, endpoint] of tenant.endpoints) {
      const [waiter] = endpoint.queue;
      if (waiter !== undefined && mayTake(tenant, endpoint)) return [name, endpoint, waiter];
    }
    return null;
  }

  /** Takes the next waiter, and moves its endpoint to the end of its rotation. (L2) */
  function next(): SlotWaiter | null {
    const name = rounds.next((each) => nextOf(tenantOf(each)) !== null);
    if (name === null) return null;
    const tenant = tenantOf(name);
    const found = nextOf(tenant);
    if (found === null) return null;
    const [endpointName, endpoint, waiter] = found;
    endpoint.queue.delete(waiter);
    room.leave(name);
    count(tenant, endpoint, 1);
    toTheEnd(tenant.endpoints, endpointName, endpoint);
    if (!isWaiting(tenant)) rounds.delete(name);
    return waiter;
  }

  function serveWaiting(): void {
    while (room.taken > 0 && taken < max) {
      const waiter = next();
      if (waiter === null) return;
      waiter.serve();
    }
  }

  return {
    take: (group) => {
      const tenant = tenantOf(group.tenant);
      const endpoint = endpointOf(tenant, group.endpoint);
      const may = mayTake(tenant, endpoint); // no run of the group waits then: it would have been served
      if (may) count(tenant, endpoint, 1);
      else forgetIdle(group);
      return may;
    },
    wait: (waiter) => {
      if (!room.hasRoom(waiter.tenant)) return false;
      endpointOf(tenantOf(waiter.tenant), waiter.endpoint).queue.add(waiter);
      rounds.add(waiter.tenant);
      room.enter(waiter.tenant);
      return true;
    },
    leave: (waiter) => {
      if (tenants.get(waiter.tenant)?.endpoints.get(waiter.endpoint)?.queue.delete(waiter) !== true) return false;
      room.leave(waiter.tenant);
      forgetIdle(waiter);
      return true;
    },
    give: (group) => {
      const tenant = tenantOf(group.tenant);
      count(tenant, endpointOf(tenant, group.endpoint), -1);
      forgetIdle(group);
      serveWaiting();
    },
    look: serveWaiting,
    get waiting() {
      return room.taken;
    },
    get taken() {
      return taken;
    },
  };
}

function toTheEnd<Value>(of: Map<string, Value>, name: string, value: Value): void {
  of.delete(name);
  of.set(name, value);
}
