// Threads parked by a process of an earlier version, which met an unknown kind of input, event or effect: a process
// that knows the kind replays them, without an operator. Owns when that is checked.
//
// Invariants:
//   N1. A thread is replayed only when its log can be folded here and each waiting input can be decided on the result.
//       Its owner may still be a process that parks it again: it is checked until the mark is gone.
//   N2. Several processes may do so at once: a replay that is requested twice is one.
import { type Clock, Fault, type Logger, replayWake, type Stores, type ThreadKey } from '@dormouse/ports';
import type { Thread, ThreadInput } from '@dormouse/thread';
import { faultCode } from '../../fault-code.ts';

/** The reason for which such a thread is parked. */
export const needsNewerVersion = 'NEEDS_NEWER_VERSION';

export interface KnownAgain {
  start(): void;
  stop(): Promise<void>;
}

export interface KnownAgainDeps extends Pick<Stores, 'parked' | 'inputs'> {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: { readonly knownAgainCheckMs: number };
  /** Folds the thread's log. @throws Fault, or any other error for an event that it cannot fold */
  readonly fold: (key: ThreadKey) => Promise<Thread>;
  /** @throws any error for an input that it cannot decide */
  readonly tryToDecide: (key: ThreadKey, thread: Thread, input: ThreadInput) => unknown;
}

export function createKnownAgain(deps: KnownAgainDeps): KnownAgain {
  const { parked, inputs, clock, logger, settings } = deps;
  const stopped = new AbortController();
  let running: Promise<void> = Promise.resolve();

  /** (N1) */
  async function knows(key: ThreadKey): Promise<boolean> {
    const waiting = await parked.inputs(key);
    try {
      const thread = await deps.fold(key);
      for (const { input, droppedAt } of waiting) if (droppedAt === null) deps.tryToDecide(key, thread, input);
      return true;
    } catch (error) {
      if (error instanceof Fault) throw error;
      return false;
    }
  }

  async function look(): Promise<void> {
    for (const key of await parked.parkedFor(needsNewerVersion)) {
      if (stopped.signal.aborted) return;
      if (!(await knows(key))) continue;
      await parked.replay(key);
      logger.info('thread_known_again', { ...key });
      void inputs.publish(key, replayWake).catch(() => {}); // the input sweeper repeats it
    }
  }

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      await clock.sleep(settings.knownAgainCheckMs, stopped.signal);
      if (stopped.signal.aborted) return;
      try {
        await look();
      } catch (error) {
        logger.warn('known_again_failing', { code: faultCode(error) });
      }
    }
  }

  return {
    start: () => {
      running = run();
    },
    stop: async () => {
      stopped.abort();
      await running;
    },
  };
}
