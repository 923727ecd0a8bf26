// A service that looks again and again for what is to be done.
import type { Clock } from '@dormouse/ports';
import type { Service } from './service.ts';

/** Its stop waits for the look that is under way. */
export interface RepeatedService extends Service {
  stop(): Promise<void>;
}

export interface Repetition {
  readonly clock: Pick<Clock, 'sleep'>;
  /** Aborted by `stop`: a look that takes long ends early by it. */
  readonly stopped: AbortController;
  readonly everyMs: number;
}

/** `look` reports its own failures: it does not reject. */
export function createRepeatedService(
  { clock, stopped, everyMs }: Repetition,
  look: () => Promise<void>,
): RepeatedService {
  let running: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      await look();
      await clock.sleep(everyMs, stopped.signal);
    }
  }

  return {
    start() {
      running = run();
      return Promise.resolve();
    },
    async stop() {
      stopped.abort();
      await running;
    },
  };
}
