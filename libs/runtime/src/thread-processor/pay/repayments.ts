// How many threads are paid again at once after a takeover. Inputs given to an earlier owner are redelivered, for
// thousands of threads together, each to be read from the log; new inputs do not wait behind them.
//
// Invariants:
//   R1. At most `max` lanes repay at once. Tenants that wait take turns by their weights, the lanes of one in the order
//       of their arrival; a lane that fails gives its place back.
//   R2. A lane that gets a new input waits no longer, nor does one whose assignment ends.
import type { TenantId } from '@dormouse/ports';
import { createDeficitRounds } from '@dormouse/collections';

/** One lane's place, or its wait for one. */
export interface Repayment {
  /** Resolves when it may begin; null when it may at once. */
  readonly begun: Promise<void> | null;
  /** (R2) */
  hurry(): void;
  /** Gives the place to the next lane. May be called again. */
  leave(): void;
}

export interface Repayments {
  enter(tenant: TenantId): Repayment;
  readonly waiting: number;
}

export function createRepayments(max: number, weightOf: (tenant: TenantId) => number = () => 1): Repayments {
  const waiting = new Map<TenantId, Set<() => void>>();
  const rounds = createDeficitRounds<TenantId>(weightOf);
  let taken = 0;

  function wait(tenant: TenantId, serve: () => void): void {
    const queue = waiting.get(tenant) ?? new Set();
    waiting.set(tenant, queue.add(serve));
    rounds.add(tenant);
  }

  /** False when it does not wait. */
  function drop(tenant: TenantId, serve: () => void): boolean {
    const queue = waiting.get(tenant);
    if (queue?.delete(serve) !== true) return false;
    if (queue.size > 0) return true;
    rounds.delete(tenant);
    return waiting.delete(tenant);
  }

  function serveNext(): void {
    while (taken < max) {
      const tenant = rounds.next(() => true);
      const [serve] = (tenant === null ? null : waiting.get(tenant)) ?? [];
      if (serve === undefined) return;
      serve();
    }
  }

  function enter(tenant: TenantId): Repayment {
    let holds = false;
    const leave = (): void => {
      if (!holds) return;
      holds = false;
      taken -= 1;
      serveNext();
    };
    if (taken < max) {
      taken += 1;
      holds = true;
      return { begun: null, hurry: () => {}, leave };
    }
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const serve = (): void => {
      drop(tenant, serve);
      taken += 1;
      holds = true;
      begin();
    };
    const hurry = (): void => void (drop(tenant, serve) && begin());
    wait(tenant, serve);
    return { begun, hurry, leave };
  }

  return {
    enter,
    get waiting() {
      return [...waiting.values()].reduce((sum, { size }) => sum + size, 0);
    },
  };
}
