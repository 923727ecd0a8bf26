// What the exporter complains of, in the log once a minute: a collector that is away fails every batch.
import type { Logger } from '@dormouse/ports';
import type { DiagLogger } from '@opentelemetry/api';

const warnEveryMs = 60_000;

/** `now` in milliseconds, of a clock that never goes back. */
export function rareWarnings(logger: Logger, now: () => number): DiagLogger {
  let warnedAt = Number.NEGATIVE_INFINITY;
  let unsaid = 0;
  const warn = (message: string): void => {
    if (now() - warnedAt < warnEveryMs) {
      unsaid += 1;
      return;
    }
    logger.warn('telemetry_failed', { reason: message.slice(0, 300), before: unsaid });
    warnedAt = now();
    unsaid = 0;
  };
  const nothing = (): void => {};
  return { error: warn, warn, info: nothing, debug: nothing, verbose: nothing };
}
