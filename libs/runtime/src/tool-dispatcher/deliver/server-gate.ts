// The gate between our calls and one tool server: a breaker and a bulkhead for each tenant and server, so that a server
// that is slow or down affects no other tenant or server.
//
// Invariants:
//   S1. A call whose wait is cancelled has not begun.
//   S2. A gate is forgotten when no call waits and its breaker is closed, not before: one entry per server in use.
//   S3. Calls that wait enter in the order of their arrival.
// By hand, as its breaker: time and randomness are ports. A call that needs not wait enters without a promise.
import {
  storedTenantId,
  type BreakerState,
  type Clock,
  type Entropy,
  type SendOutcome,
  type TenantId,
} from '@dormouse/ports';
import { createBreaker, type Breaker, type Pass } from './breaker.ts';
import { createBulkhead, type Bulkhead } from './bulkhead.ts';
import type { CancelToken } from './cancel-token.ts';
import type { DispatcherSettings } from '../settings.ts';

export interface ServerGates {
  /** What ends the turn; null where the call has to wait for it, or where it is cancelled. */
  enterNow(tenant: TenantId, toolServer: string, cancelToken: CancelToken): Leave | null;
  /** Resolves when the turn has come, or with null when it is cancelled. */
  enter(tenant: TenantId, toolServer: string, cancelToken: CancelToken): Promise<Leave | null>;
  /** Of the breakers, with the name of the tool server, for each tenant that uses it. */
  states(): readonly (readonly [toolServer: string, state: BreakerState])[];
  /** The gates whose breaker is not closed. */
  holding(): readonly HoldingGate[];
}

export interface HoldingGate {
  readonly tenant: TenantId;
  readonly toolServer: string;
  readonly breaker: Exclude<BreakerState, 'closed'>;
}

/** Ends an admitted call, with its outcome; null when nothing was sent. */
export type Leave = (outcome: SendOutcome | null) => void;

export interface GateOptions {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly concurrentMax: number;
  readonly breaker: DispatcherSettings['breaker'];
}

interface Gate {
  readonly breaker: Breaker;
  readonly bulkhead: Bulkhead;
  /** Held by the breaker or queued for the bulkhead. */
  waiting: number;
}

export function createServerGates(options: GateOptions): ServerGates {
  const gates = new Map<string, Gate>();

  function gateOf(name: string): Gate {
    const known = gates.get(name);
    if (known !== undefined) return known;
    const breaker = createBreaker(options, options.breaker);
    const gate = { breaker, bulkhead: createBulkhead(options.concurrentMax), waiting: 0 };
    gates.set(name, gate);
    return gate;
  }

  /** (S2) */
  function forgetUnused(name: string, { breaker, bulkhead, waiting }: Gate): void {
    if (waiting === 0 && breaker.isClosed && bulkhead.isEmpty) gates.delete(name);
  }

  function begin(name: string, gate: Gate, pass: Pass): Leave {
    return (outcome) => {
      gate.breaker.learn(pass, outcome);
      gate.bulkhead.leave();
      forgetUnused(name, gate);
    };
  }

  async function wait(name: string, gate: Gate, signal: AbortSignal): Promise<Leave | null> {
    gate.waiting += 1;
    try {
      return await passThrough(name, gate, signal);
    } finally {
      gate.waiting -= 1;
      forgetUnused(name, gate);
    }
  }

  async function passThrough(name: string, gate: Gate, signal: AbortSignal): Promise<Leave | null> {
    const { breaker, bulkhead } = gate;
    const pass = breaker.isHolding ? await breaker.wait(signal) : 'free'; // (S3)
    if (pass === null) return null;
    if (!(await bulkhead.enter(signal))) {
      breaker.learn(pass, null);
      return null;
    }
    const leave = begin(name, gate, pass);
    if (!signal.aborted) return leave;
    leave(null); // (S1)
    return null;
  }

  return {
    enterNow(tenant, toolServer, cancelToken) {
      if (cancelToken.isCancelled) return null; // (S1)
      const name = `${tenant} ${toolServer}`;
      const gate = gateOf(name);
      return !gate.breaker.isHolding && gate.bulkhead.enterNow() ? begin(name, gate, 'free') : null;
    },
    states: () => [...gates].map(([name, { breaker }]) => [name.slice(name.indexOf(' ') + 1), breaker.state]),
    holding: () => [...gates].flatMap(([name, { breaker }]) => holdingGate(name, breaker.state)),
    async enter(tenant, toolServer, cancelToken) {
      if (cancelToken.isCancelled) return null; // (S1)
      const name = `${tenant} ${toolServer}`;
      return wait(name, gateOf(name), cancelToken.signal);
    },
  };
}

function holdingGate(name: string, breaker: BreakerState): readonly HoldingGate[] {
  if (breaker === 'closed') return [];
  const space = name.indexOf(' ');
  return [{ tenant: storedTenantId(name.slice(0, space)), toolServer: name.slice(space + 1), breaker }];
}
