// A circuit breaker: while a server keeps failing, attempts are held and one call at a time tests the server. It delays
// attempts and never refuses one.
// By hand: time and randomness are ports, which the simulator moves; breakers of packages read the system clock.
//
// Invariants:
//   K1. After `failuresMax` failures in a row attempts are held; after a hold one attempt goes through as a test.
//   K2. Each hold is twice as long as the one before, up to `holdMaxMs`. Failures of attempts that were already under
//       way when the hold began prolong nothing.
//   K3. The first success releases every held attempt.
//   K4. A clock that jumps back extends no hold beyond the longest hold.
//   K5. An attempt that was never sent, for a reason of ours or of one user's login, proves nothing about the server:
//       it counts neither as a failure nor as a success.
import type { BreakerState, Clock, Entropy, SendOutcome } from '@dormouse/ports';
import { credentialRefreshFailed } from '@dormouse/thread';
import type { DispatcherSettings } from '../settings.ts';

/** What an attempt carries from `wait` to `learn`. */
export type Pass = 'free' | 'probe';

export interface Breaker {
  /** Null when the signal ended the wait. */
  wait(signal: AbortSignal): Promise<Pass | null>;
  /** Records the outcome of the attempt; null when nothing was sent. */
  learn(pass: Pass, outcome: SendOutcome | null): void;
  readonly state: BreakerState;
  /** Whether attempts are held back. */
  readonly isHolding: boolean;
  /** Whether there is nothing to remember. */
  readonly isClosed: boolean;
}

export function createBreaker(
  { clock, entropy }: { readonly clock: Clock; readonly entropy: Entropy },
  settings: DispatcherSettings['breaker'],
): Breaker {
  let failures = 0;
  let holds = 0;
  let heldUntil = 0;
  let probing = false;
  let changed = new AbortController();

  function announce(): void {
    const before = changed;
    changed = new AbortController();
    before.abort();
  }

  function hold(): void {
    const holdMs = Math.min(settings.holdMaxMs, settings.holdFirstMs * 2 ** Math.min(holds, 30)); // (K2)
    holds += 1;
    heldUntil = clock.now() + Math.round(holdMs * (1 - entropy.fraction() / 4));
  }

  function succeed(): void {
    failures = 0;
    if (holds === 0) return;
    holds = 0;
    announce(); // (K3)
  }

  return {
    async wait(signal) {
      while (holds > 0) {
        if (signal.aborted) return null;
        const leftMs = heldUntil - clock.now();
        const isOver = leftMs <= 0 || leftMs > settings.holdMaxMs; // (K4)
        if (isOver && !probing) {
          probing = true; // (K1)
          return 'probe';
        }
        await clock.sleep(isOver ? settings.holdMaxMs : leftMs, AbortSignal.any([signal, changed.signal]));
      }
      return signal.aborted ? null : 'free';
    },
    learn(pass, outcome) {
      if (pass === 'probe') probing = false;
      const proof = outcome === null || saysNothing(outcome) ? null : outcome; // (K5)
      if (proof !== null && isWell(proof)) succeed();
      else if (proof !== null) {
        failures += 1;
        if (pass === 'probe' || (holds === 0 && failures >= settings.failuresMax)) hold();
      }
      if (pass === 'probe') announce();
    },
    get state() {
      if (holds === 0) return 'closed';
      return probing ? 'half_open' : 'open';
    },
    get isHolding() {
      return holds > 0;
    },
    get isClosed() {
      return failures === 0 && holds === 0;
    },
  };
}

/** A 4xx is an answer of a server that works. */
const isWell = (outcome: SendOutcome): boolean => outcome.sent && outcome.status < 500;

/** Whether nothing was sent, by a rule or a stop of ours, or because a credential could not be had. (K5) */
export const saysNothing = (outcome: SendOutcome): boolean =>
  !outcome.sent && (outcome.code === 'ABORTED' || outcome.code === 'UNAVAILABLE' || isRefusedHere(outcome.code));

/** Codes of a transport that will not send this request, now or later. */
export function isRefusedHere(code: string): boolean {
  return code === 'OUTBOUND_FORBIDDEN' || code === 'SECRET_UNUSABLE' || code === credentialRefreshFailed;
}
