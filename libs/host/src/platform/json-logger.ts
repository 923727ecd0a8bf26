// Structured log lines on stderr: one JSON object each, an event name and fields. Fields that could carry a credential
// are redacted here, for every caller.
import type { Logger, LogFields } from '@dormouse/ports';
import { destination, pino } from 'pino';

export function createJsonLogger(level: string): Logger & { flush(): void } {
  const lines = destination({ fd: 2, sync: true });
  const log = pino(
    { level, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"`, messageKey: 'event' },
    lines,
  );
  return {
    info: (event, fields) => {
      if (log.isLevelEnabled('info')) log.info(redacted(fields), event); // the usual case costs one check of the level
    },
    warn: (event, fields) => log.warn(redacted(fields), event),
    error: (event, fields) => log.error(redacted(fields), event),
    flush: () => lines.flushSync(),
  };
}

const credentials = /(\/callback\/|access_token=|bearer\s+)[^\s"'&]+/gi;

/** Callback paths, tokens in queries and bearer credentials never reach a log. I-23 */
export function redacted(fields: LogFields = {}): LogFields {
  const entries = Object.entries(fields).map(
    ([name, value]) =>
      [name, typeof value === 'string' ? value.replaceAll(credentials, '$1[redacted]') : value] as const,
  );
  return Object.fromEntries(entries);
}
