// A fair semaphore: how many completions may run in this process at once. A slot is held only while a model is asked.
//
// Invariants:
//   L1. At most `max` slots are out. A free slot is given at once to a completion whose group is within its share.
//   L2. Waiting tenants are served in rotation, and within a tenant its endpoints, in order: a burst delays itself.
//   L3. A share shrinks with the free slots: a tenant holds at most `tenantShare` slots for each free one, an endpoint
//       at most `endpointShare` for each that its tenant may still take; and some are kept for tenants and endpoints
//       that have none. However many completions of some tenants or endpoints hang, others find a slot.
//   L4. At most `waitingMax` wait; a waiting completion is its entry here and nothing else.

/** Slots are shared by tenant, and within a tenant by the endpoint of the model. */
export interface SlotGroup {
  readonly tenant: string;
  readonly endpoint: string;
}

/** A completion that waits. */
export interface SlotWaiter extends SlotGroup {
  /** It has a slot now. Called once, unless it has left before. */
  serve(): void;
}

export interface CompletionSlots {
  /** Whether a slot was taken. */
  take(group: SlotGroup): boolean;
  /** Queues the waiter behind the others of its group; false when too many wait. (L4) */
  wait(waiter: SlotWaiter): boolean;
  /** False when it no longer waits. */
  leave(waiter: SlotWaiter): boolean;
  give(group: SlotGroup): void;
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
  taken: number;
  /** In the order of service. */
  readonly endpoints: Map<string, Endpoint>;
}

export function createCompletionSlots(max: number, waitingMax = Number.POSITIVE_INFINITY): CompletionSlots {
  /** Tenants that hold a slot or wait for one, in the order of service. */
  const tenants = new Map<string, Tenant>();
  const kept = Math.max(1, Math.floor(max / keptShare));
  let taken = 0;
  let waiting = 0;

  function tenantOf(name: string): Tenant {
    const known = tenants.get(name);
    if (known !== undefined) return known;
    const made: Tenant = { taken: 0, endpoints: new Map() };
    tenants.set(name, made);
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
    if (tenant.endpoints.size === 0) tenants.delete(name);
  }

  /** Slots that this tenant may still take, if no other tenant takes any. (L3) */
  function roomOf(tenant: Tenant): number {
    const free = max - taken;
    return tenant.taken === 0 ? free : (tenantShare * (free - kept) - tenant.taken) / (tenantShare + 1);
  }

  /** (L3) */
  const mayTake = (tenant: Tenant, endpoint: Endpoint): boolean => {
    if (taken >= max) return false;
    const room = roomOf(tenant);
    return endpoint.taken === 0 ? room > 0 : endpoint.taken < endpointShare * (room - kept);
  };

  function count(tenant: Tenant, endpoint: Endpoint, change: 1 | -1): void {
    taken += change;
    tenant.taken += change;
    endpoint.taken += change;
  }

  /** Takes the next waiter, and moves its tenant and endpoint to the end of their rotations. (L2) */
  function next(): SlotWaiter | null {
    for (const [tenantName, tenant] of tenants) {
      for (const [endpointName, endpoint] of tenant.endpoints) {
        const [waiter] = endpoint.queue;
        if (waiter === undefined || !mayTake(tenant, endpoint)) continue;
        endpoint.queue.delete(waiter);
        waiting -= 1;
        count(tenant, endpoint, 1);
        toTheEnd(tenant.endpoints, endpointName, endpoint);
        toTheEnd(tenants, tenantName, tenant);
        return waiter;
      }
    }
    return null;
  }

  function serveWaiting(): void {
    while (waiting > 0 && taken < max) {
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
      if (waiting >= waitingMax) return false;
      endpointOf(tenantOf(waiter.tenant), waiter.endpoint).queue.add(waiter);
      waiting += 1;
      return true;
    },
    leave: (waiter) => {
      if (tenants.get(waiter.tenant)?.endpoints.get(waiter.endpoint)?.queue.delete(waiter) !== true) return false;
      waiting -= 1;
      forgetIdle(waiter);
      return true;
    },
    give: (group) => {
      const tenant = tenantOf(group.tenant);
      count(tenant, endpointOf(tenant, group.endpoint), -1);
      forgetIdle(group);
      serveWaiting();
    },
    get waiting() {
      return waiting;
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
