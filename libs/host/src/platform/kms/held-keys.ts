// How long a process may use keys that a key management has unwrapped, without another word from it.
//
// Invariants:
//   H1. A key management that is away, or refuses, changes nothing at once: the process goes on with its keys, and asks
//       again and again.
//   H2. The keys are good for `heldMs` since they were last unwrapped. Then the process ends, and a new one begins only
//       when they are unwrapped. (opened-keys O3)
import { Fault, type KeyManagement, type Logger } from '@dormouse/ports';

export interface HeldKeys {
  /** Resolves with the reason when the keys may not be used longer; never before. (H2) */
  readonly over: Promise<string>;
  stop(): void;
}

/** In so many parts of the time the key management is asked. */
const asksPerTime = 24;

export function holdKeys(deps: {
  readonly kms: KeyManagement;
  /** Unwrapped a moment ago. */
  readonly wrapped: string;
  readonly heldMs: number;
  readonly logger: Logger;
  /** Milliseconds that never go back. */
  readonly now: () => number;
}): HeldKeys {
  const { kms, wrapped, heldMs, logger, now } = deps;
  const everyMs = Math.max(1, Math.floor(heldMs / asksPerTime));
  let goodUntil = now() + heldMs;
  let timer: NodeJS.Timeout;
  let isStopped = false;
  let isSaid = false;

  const over = new Promise<string>((resolve) => {
    async function ask(): Promise<void> {
      const at = now();
      try {
        await kms.unwrap(wrapped);
        goodUntil = at + heldMs;
        if (isSaid) logger.info('kms_answers');
        isSaid = false;
      } catch (error) {
        const { code, message } = error instanceof Fault ? error : { code: 'UNAVAILABLE', message: String(error) };
        if (!isSaid) logger.warn('kms_unanswered', { code, reason: message, good_until_ms: goodUntil - at }); // (H1)
        isSaid = true;
      }
      if (isStopped) return;
      const leftMs = goodUntil - now();
      if (leftMs <= 0)
        return resolve(
          `KMS_REFUSED: the key management has not confirmed the master keys for ${Math.round(heldMs / 1_000)} s (DORMOUSE_MASTER_KEY_HELD_MS), so this process ends. It starts again when ${kms.keyId} unwraps them.`,
        );
      wait(Math.min(everyMs, leftMs));
    }
    function wait(ms: number): void {
      timer = setTimeout(() => void ask(), ms);
      timer.unref();
    }
    wait(everyMs);
  });
  return {
    over,
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
