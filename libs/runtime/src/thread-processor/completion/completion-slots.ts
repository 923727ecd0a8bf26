// How many completions may run in this process at once, and who is next: tenants take turns.
//
// Invariants:
//   L1. At most `max` slots are out. A slot that is free is given at once.
//   L2. Waiting tenants are served in rotation, each tenant's completions in order: one tenant's burst delays itself.

export interface CompletionSlots {
  /** Null when a slot was free; else a promise of one: false when the signal aborted first. */
  take(tenant: string, signal: AbortSignal): Promise<boolean> | null;
  give(): void;
  readonly waiting: number;
  readonly taken: number;
}

interface Waiter {
  readonly serve: (served: boolean) => void;
}

export function createCompletionSlots(max: number): CompletionSlots {
  /** In order of whose turn it is. */
  const queues = new Map<string, Set<Waiter>>();
  let taken = 0;
  let waiting = 0;

  function leave(tenant: string, waiter: Waiter): boolean {
    const queue = queues.get(tenant);
    if (queue === undefined || !queue.delete(waiter)) return false;
    if (queue.size === 0) queues.delete(tenant);
    waiting -= 1;
    return true;
  }

  function next(): Waiter | null {
    for (const [tenant, queue] of queues) {
      for (const waiter of queue) {
        leave(tenant, waiter);
        if (queue.size > 0) {
          queues.delete(tenant); // to the end of the rotation (L2)
          queues.set(tenant, queue);
        }
        return waiter;
      }
    }
    return null;
  }

  function wait(tenant: string, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const waiter: Waiter = { serve: resolve };
      const queue = queues.get(tenant) ?? new Set();
      queue.add(waiter);
      queues.set(tenant, queue);
      waiting += 1;
      signal.addEventListener('abort', () => void (leave(tenant, waiter) && resolve(false)), { once: true });
    });
  }

  return {
    take: (tenant, signal) => {
      if (taken >= max) return wait(tenant, signal);
      taken += 1;
      return null;
    },
    give: () => {
      const waiter = next();
      if (waiter === null) taken -= 1;
      else waiter.serve(true);
    },
    get waiting() {
      return waiting;
    },
    get taken() {
      return taken;
    },
  };
}
