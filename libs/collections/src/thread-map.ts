// Values by thread, for look-ups with every commit: a map of maps, because a name joined from tenant and thread would
// be a new string each time, made and hashed anew.
//
// Invariants:
//   M1. A tenant without threads is removed.
//   M2. Room is made in the tenant with the most threads: an inactive tenant takes no room from others.
import { TransientMap } from './transient-map.ts';

interface ThreadKey<Tenant extends string = string> {
  readonly tenant: Tenant;
  readonly thread: string;
}

export class ThreadMap<Value extends NonNullable<unknown>, Tenant extends string = string> {
  readonly #tenants = new Map<Tenant, TransientMap<string, Value>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get({ tenant, thread }: ThreadKey<Tenant>): Value | undefined {
    return this.#tenants.get(tenant)?.get(thread);
  }

  has({ tenant, thread }: ThreadKey<Tenant>): boolean {
    return this.#tenants.get(tenant)?.has(thread) === true;
  }

  set({ tenant, thread }: ThreadKey<Tenant>, value: Value): void {
    let threads = this.#tenants.get(tenant);
    if (threads === undefined) this.#tenants.set(tenant, (threads = new TransientMap()));
    const before = threads.size;
    threads.set(thread, value);
    this.#size += threads.size - before;
  }

  /** As `set`, and makes room for a new thread where `max` are there. */
  setWithin(max: number, key: ThreadKey<Tenant>, value: Value): void {
    if (this.#size >= max && !this.has(key)) this.makeRoom();
    this.set(key, value);
  }

  delete({ tenant, thread }: ThreadKey<Tenant>): boolean {
    const threads = this.#tenants.get(tenant);
    if (threads?.delete(thread) !== true) return false;
    if (threads.size === 0) this.#tenants.delete(tenant); // (M1)
    this.#size -= 1;
    return true;
  }

  clear(): void {
    for (const threads of this.#tenants.values()) threads.clear();
    this.#tenants.clear();
    this.#size = 0;
  }

  /** Drops the oldest thread of the tenant with the most threads. Looks at each tenant. (M2) */
  makeRoom(): void {
    let largest: readonly [Tenant, TransientMap<string, Value>] | undefined;
    for (const entry of this.#tenants) if (entry[1].size > (largest?.[1].size ?? 0)) largest = entry;
    if (largest === undefined) return;
    const [tenant, threads] = largest;
    for (const thread of threads.keys()) return void this.delete({ tenant, thread });
  }

  /** A tenant's threads in the order of their insertion; tenants likewise. */
  *entries(): IterableIterator<readonly [ThreadKey<Tenant>, Value]> {
    for (const [tenant, threads] of this.#tenants)
      for (const [thread, value] of threads.entries()) yield [{ tenant, thread }, value];
  }

  *values(): IterableIterator<Value> {
    for (const threads of this.#tenants.values()) yield* threads.values();
  }
}
