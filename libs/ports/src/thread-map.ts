// Values by thread, for whoever looks one up with every commit: a map of maps, because a name joined from tenant and thread
// would be a new string each time, made and hashed anew.
import type { ThreadKey } from './thread-key.ts';

export class ThreadMap<Value> {
  readonly #tenants = new Map<string, Map<string, Value>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get({ tenant, thread }: ThreadKey): Value | undefined {
    return this.#tenants.get(tenant)?.get(thread);
  }

  has({ tenant, thread }: ThreadKey): boolean {
    return this.#tenants.get(tenant)?.has(thread) === true;
  }

  set({ tenant, thread }: ThreadKey, value: Value): void {
    let threads = this.#tenants.get(tenant);
    if (threads === undefined) this.#tenants.set(tenant, (threads = new Map()));
    const before = threads.size;
    threads.set(thread, value);
    this.#size += threads.size - before;
  }

  delete({ tenant, thread }: ThreadKey): boolean {
    const threads = this.#tenants.get(tenant);
    if (threads?.delete(thread) !== true) return false;
    if (threads.size === 0) this.#tenants.delete(tenant);
    this.#size -= 1;
    return true;
  }

  clear(): void {
    this.#tenants.clear();
    this.#size = 0;
  }

  /** Who makes room for a thread of this tenant: its own oldest; another's, if it has none. */
  oldest(tenant: string): ThreadKey | undefined {
    for (const thread of this.#tenants.get(tenant)?.keys() ?? []) return { tenant, thread };
    for (const [key] of this.entries()) return key;
    return undefined;
  }

  /** A tenant's threads in the order in which they came; tenants likewise. */
  *entries(): IterableIterator<readonly [ThreadKey, Value]> {
    for (const [tenant, threads] of this.#tenants)
      for (const [thread, value] of threads) yield [{ tenant, thread }, value];
  }

  *values(): IterableIterator<Value> {
    for (const threads of this.#tenants.values()) yield* threads.values();
  }
}
