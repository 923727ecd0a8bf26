// Between our calls and one tool server: a breaker and a bulkhead for each tenant and server, so that a server that is
// slow or down costs nobody else anything.
//
// Invariants:
//   S1. Whoever is told to stop waiting has not begun.
//   S2. What is held here is forgotten when nobody waits and nothing has failed: one entry per server in use.
import type { Clock, Entropy, SendOutcome } from '@dormouse/ports';
import { createBreaker, type Breaker } from './breaker.ts';
import { createBulkhead, type Bulkhead } from './bulkhead.ts';
import type { BreakerSettings } from './settings.ts';

export interface ServerGates {
  /** Resolves when its turn has come, with what ends the turn; null when the signal ended the wait. */
  enter(tenant: string, toolServer: string, signal: AbortSignal): Promise<Leave | null>;
}

/** Ends a turn, with what came of it; null when nothing was sent. */
export type Leave = (outcome: SendOutcome | null) => void;

export interface GateOptions {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly concurrentMax: number;
  readonly breaker: BreakerSettings;
}

interface Gate {
  readonly breaker: Breaker;
  readonly bulkhead: Bulkhead;
}

export function createServerGates(options: GateOptions): ServerGates {
  const gates = new Map<string, Gate>();

  function gateOf(name: string): Gate {
    const known = gates.get(name);
    if (known !== undefined) return known;
    const gate = {
      breaker: createBreaker(options, options.breaker),
      bulkhead: createBulkhead(options.concurrentMax),
    };
    gates.set(name, gate);
    return gate;
  }

  return {
    async enter(tenant, toolServer, signal) {
      const name = `${tenant} ${toolServer}`;
      const { breaker, bulkhead } = gateOf(name);
      const pass = await breaker.wait(signal);
      if (pass === null) return null;
      if (!(await bulkhead.enter(signal))) {
        breaker.learn(pass, null);
        return null;
      }
      const leave: Leave = (outcome) => {
        breaker.learn(pass, outcome);
        bulkhead.leave();
        if (breaker.isClosed && bulkhead.isEmpty) gates.delete(name); // (S2)
      };
      if (!signal.aborted) return leave;
      leave(null); // (S1)
      return null;
    },
  };
}
