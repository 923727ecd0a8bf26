// Between our calls and one tool server: a bulkhead (so many POSTs at a time, the others wait in order) and a breaker that
// holds attempts back while the server keeps failing. One per tenant and server; it delays and never refuses.
// Time comes from the clock port, so that the simulator can move it.
//
// Invariants:
//   S1. At most `concurrentMax` attempts run at once; waiting ones start in the order in which they came.
//   S2. While the breaker holds, one attempt at a time goes through; the first success lets everybody go.
//   S3. Whoever is told to stop waiting has not begun.
import type { Clock, Entropy, SendOutcome } from '@dormouse/ports';
import type { BreakerSettings } from './settings.ts';

export interface ServerGates {
  /** Resolves when its turn has come, with the function that must be called when the attempt is over; null when the signal ended the wait. */
  enter(tenant: string, toolServer: string, signal: AbortSignal): Promise<Leave | null>;
}

/** Ends a turn; the outcome teaches the breaker, null (nothing was sent) does not. */
export type Leave = (outcome: SendOutcome | null) => void;

interface Gate {
  active: number;
  readonly waiting: Set<() => void>;
  /** Failures in a row. */
  failures: number;
  heldUntil: number;
  /** Aborted and replaced when the breaker lets go: sleepers wake. */
  released: AbortController;
}

export interface GateOptions {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly concurrentMax: number;
  readonly breaker: BreakerSettings;
  /** One attempt takes at most this long. */
  readonly attemptMs: number;
}

export function createServerGates(options: GateOptions): ServerGates {
  const gates = new Map<string, Gate>();
  return {
    async enter(tenant, toolServer, signal) {
      const name = `${tenant} ${toolServer}`;
      const gate = gates.get(name) ?? {
        active: 0,
        waiting: new Set(),
        failures: 0,
        heldUntil: 0,
        released: new AbortController(),
      };
      gates.set(name, gate);
      if (gate.failures >= options.breaker.failuresMax) await hold(gate, signal, options);
      while (gate.active >= options.concurrentMax && !signal.aborted) await queue(gate, signal);
      if (signal.aborted) {
        next(gate);
        return null; // (S3)
      }
      gate.active += 1;
      return (outcome) => {
        gate.active -= 1;
        if (outcome !== null) judge(gate, outcome, options);
        next(gate);
        if (gate.active === 0 && gate.waiting.size === 0 && gate.failures === 0) gates.delete(name);
      };
    },
  };
}

/** Waits until it is this attempt's turn to find out whether the server is back. (S2) */
async function hold(
  gate: Gate,
  signal: AbortSignal,
  { clock, entropy, breaker, attemptMs }: GateOptions,
): Promise<void> {
  while (gate.failures >= breaker.failuresMax && !signal.aborted) {
    const leftMs = gate.heldUntil - clock.now();
    if (leftMs <= 0) {
      gate.heldUntil = clock.now() + attemptMs; // the others wait for what this one finds
      return;
    }
    await clock.sleep(leftMs + Math.ceil(entropy.fraction() * 50), AbortSignal.any([signal, gate.released.signal]));
  }
}

function queue(gate: Gate, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      gate.waiting.delete(go);
      signal.removeEventListener('abort', go);
      resolve();
    };
    gate.waiting.add(go); // (S1)
    signal.addEventListener('abort', go, { once: true });
  });
}

function next(gate: Gate): void {
  for (const go of gate.waiting) return go();
}

function judge(gate: Gate, outcome: SendOutcome, { clock, entropy, breaker }: GateOptions): void {
  if (isWell(outcome)) {
    if (gate.failures === 0) return;
    gate.failures = 0;
    gate.heldUntil = 0;
    gate.released.abort();
    gate.released = new AbortController();
    return;
  }
  gate.failures += 1;
  const opened = gate.failures - breaker.failuresMax;
  if (opened < 0) return;
  const holdMs = Math.min(breaker.holdMaxMs, breaker.holdFirstMs * 2 ** Math.min(opened, 30));
  gate.heldUntil = clock.now() + Math.round(holdMs * (1 - entropy.fraction() / 4));
}

/** A 4xx is an answer of a server that works. What never left us says nothing about the server. */
function isWell(outcome: SendOutcome): boolean {
  if (outcome.sent) return outcome.status < 500;
  return outcome.code === 'ABORTED' || isRefusedHere(outcome.code);
}

/** Codes of a transport that will not send this request, now or later. */
export function isRefusedHere(code: string): boolean {
  return code === 'OUTBOUND_FORBIDDEN' || code === 'SECRET_UNUSABLE' || code === 'AUTH_UNSUPPORTED';
}
