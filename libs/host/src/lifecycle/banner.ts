// What is printed after the start: the address, the key, the next command. The last line is for programs.
import { resolve } from 'node:path';
import { offsetText } from '../platform/clock-offset.ts';
import type { SeededKey } from './standalone-seed.ts';

export interface Running {
  readonly url: string;
  readonly dataDir: string;
  readonly key: SeededKey;
  /** Opens the console signed in; null without one. */
  readonly code: string | null;
  readonly toolsUrl: string | null;
  /** Null when metrics are off. */
  readonly metricsUrl: string | null;
  /** Whether reading the metrics needs the key. */
  readonly isMetricsKeyWanted: boolean;
  /** Milliseconds by which the development clock is ahead of the machine's; 0 where it was never moved. */
  readonly clockAheadMs: number;
}

export function bannerText(running: Running): string {
  const { url, dataDir, key, code, toolsUrl, metricsUrl, isMetricsKeyWanted, clockAheadMs } = running;
  const where = whereFlags(url, dataDir);
  const lines = [
    '',
    `  Dormouse is up at ${url}`,
    `  data   ${dataDir}`,
    `  key    ${key.file}${key.isNew ? `   (${key.key}; printed this once)` : ''}`,
    ...(clockAheadMs === 0
      ? []
      : [`  clock  ${offsetText(clockAheadMs)} ahead of the machine's, as it was moved before`]),
    ...(toolsUrl === null ? [] : [`  tools  ${toolsUrl}   (examples, used by the agent "assistant")`]),
    ...(metricsUrl === null ? [] : [`  metrics  ${metricsUrl}${isMetricsKeyWanted ? '   (with the key)' : ''}`]),
    '',
    '  Open the console, signed in (the link works once, for ten minutes):',
    `    ${url}/${code === null ? '' : `?code=${code}`}`,
    '  Or type, in another terminal:',
    `    npx @dormouse/cli chat${where}`,
    `    npx @dormouse/cli console${where}   (another such link)`,
    '  or read the reference of the API:',
    `    ${url}/docs`,
    '',
    `ready ${url}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** What the command line client would not find by itself. */
function whereFlags(url: string, dataDir: string): string {
  const atUrl = url === 'http://127.0.0.1:7420' ? '' : ` --url ${url}`;
  return atUrl + (dataDir === resolve('.dormouse') ? '' : ` --data ${dataDir}`);
}
