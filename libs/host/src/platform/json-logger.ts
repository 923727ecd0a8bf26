// Structured log lines on stderr: one JSON object each, an event name and fields. docs/reference/log-events.md lists
// the events. Fields that could carry a credential are redacted here, for every caller.
//
// Invariants:
//   L1. Every line has level (a word), time, event, service, instance and version.
//   L2. A line that is written while a traced request is handled has the request's trace_id and span_id.
import { randomUUID } from 'node:crypto';
import type { Logger, LogFields } from '@dormouse/ports';
import { destination, pino } from 'pino';
import { currentContext } from '../http/server/request-spans.ts';
import { version } from '../version.ts';

/** Distinguishes this process from others of its service, and from itself before a restart. */
const instance = randomUUID().slice(0, 8);

export interface JsonLogger extends Logger {
  /** Whether lines of this level are written. */
  writes(level: 'info' | 'warn' | 'error'): boolean;
  flush(): void;
}

export function createJsonLogger(level: string, service: string): JsonLogger {
  const lines = destination({ fd: 2, sync: true });
  const log = pino(
    {
      level,
      base: { service, instance, version }, // (L1)
      formatters: { level: (label) => ({ level: label }) },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      messageKey: 'event',
      mixin: traceFields,
    },
    lines,
  );
  return {
    info: (event, fields) => {
      if (log.isLevelEnabled('info')) log.info(redacted(fields), event); // the usual case costs one check of the level
    },
    warn: (event, fields) => log.warn(redacted(fields), event),
    error: (event, fields) => log.error(redacted(fields), event),
    writes: (wanted) => log.isLevelEnabled(wanted),
    flush: () => lines.flushSync(),
  };
}

/** (L2) */
function traceFields(): object {
  const context = currentContext();
  return context === null ? {} : { trace_id: context.traceId, span_id: context.spanId };
}

const credentials =
  /(\/(?:callback|answer)\/(?!\{token\})|\/hooks\/[^\s/]+\/(?!\{token\})|access_token=|bearer\s+|\b(?:dmk|dtt|dal|whsec)_)[^\s"'&]+/gi;

/**
 * Paths of callbacks, answer links and sources, tokens in queries, bearer credentials and whatever has the form of a
 * key never reach a log. I-23
 */
export function redacted(fields: LogFields = {}): LogFields {
  const entries = Object.entries(fields).map(
    ([name, value]) =>
      [name, typeof value === 'string' ? value.replaceAll(credentials, '$1[redacted]') : value] as const,
  );
  return Object.fromEntries(entries);
}
