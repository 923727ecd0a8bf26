// What a run of the load has shown, and how it is printed.
import type { Finding } from '../../test/chaos/judge.ts';
import type { Machine } from '../src/machine.ts';
import { percentile } from '../src/statistics.ts';
import type { LoadSent } from './client.ts';
import type { JudgedTenant } from './judged-tenant.ts';
import type { LoadOptions } from './options.ts';

interface Times {
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
}

export interface LoadResult {
  readonly options: LoadOptions;
  readonly machine: Machine;
  readonly messages: {
    readonly sent: number;
    readonly acknowledged: number;
    readonly unanswered: number;
    /** Answers by status; 0 for a connection that failed. */
    readonly statuses: Readonly<Record<string, number>>;
  };
  /** Turns that have ended, per second of load. */
  readonly turnsPerSecond: number;
  readonly ackMs: Times;
  /** Of writes by themselves, beside the load. */
  readonly storeMs: Times;
  /** The p99 of an acknowledgement without the p99 of a write. */
  readonly ackP99BeyondStoreMs: number;
  readonly turnMs: Times;
  readonly restMs: number;
  readonly commits: number;
  readonly violations: readonly (Finding | { readonly id: 'log'; readonly text: string })[];
}

/** What is wanted of the p99 of an acknowledgement beyond the store's own. */
const ackBeyondWantedMs = 100;
const shownMax = 20;

export function resultOf(seen: {
  readonly options: LoadOptions;
  readonly machine: Machine;
  readonly sent: LoadSent;
  readonly storeMs: readonly number[];
  readonly restMs: number;
  readonly judged: readonly JudgedTenant[];
  /** Lines of errors that the processes have logged. */
  readonly errors: readonly string[];
}): LoadResult {
  const { options, machine, sent, judged, errors } = seen;
  const { messages, statuses } = sent;
  const acknowledged = messages.filter(({ id }) => id !== null).length;
  const ackMs = timesOf(messages.flatMap(({ ackMs: took }) => took ?? []));
  const storeMs = timesOf(seen.storeMs);
  const turnsMs = judged.flatMap((tenant) => tenant.turnsMs);
  return {
    options,
    machine,
    messages: {
      ...{ sent: messages.length, acknowledged, unanswered: messages.length - acknowledged },
      statuses: Object.fromEntries(statuses),
    },
    turnsPerSecond: round(turnsMs.length / (options.minutes * 60)),
    ackMs,
    storeMs,
    ackP99BeyondStoreMs: round(ackMs.p99 - storeMs.p99),
    turnMs: timesOf(turnsMs),
    restMs: Math.round(seen.restMs),
    commits: judged.reduce((sum, { commits }) => sum + commits, 0),
    violations: [
      ...judged.flatMap(({ findings }) => findings),
      ...errors.map((text) => ({ id: 'log' as const, text })),
    ],
  };
}

export function textOf(result: LoadResult): string {
  const { options, machine, messages, ackMs, storeMs, turnMs, violations } = result;
  const times = ({ p50, p99, most }: Times): string => `p50 ${p50} ms, p99 ${p99} ms, longest ${most} ms`;
  const statuses = Object.entries(messages.statuses).map(([status, count]) => `${status}: ${count}`);
  return `${[
    `${options.topology}, ${options.minutes} minutes, ${options.rate} turns/s over ${options.tenants} tenants; model ${options.modelMs} ms, tool ${options.toolMs} ms`,
    `${machine.at}, commit ${machine.commit}, ${machine.cpus}, ${options.cores} of them at most, load at the start ${machine.loadAtStart}`,
    `messages: ${messages.sent} sent, ${messages.acknowledged} acknowledged, ${messages.unanswered} never answered (${statuses.join(', ')})`,
    `turns: ${result.turnsPerSecond} per second; ${times(turnMs)}`,
    `acknowledgements: ${times(ackMs)}`,
    `writes of the store by itself, beside the load: ${times(storeMs)}`,
    `acknowledgement p99 beyond the store's: ${result.ackP99BeyondStoreMs} ms (wanted: ${ackBeyondWantedMs} ms at most)`,
    `at rest ${result.restMs} ms after the last answer; ${result.commits} commits read`,
    `violations: ${violations.length}`,
    ...violations.slice(0, shownMax).map(({ id, text }) => `  ${id} ${text}`),
    ...(violations.length > shownMax ? [`  … and ${violations.length - shownMax} more`] : []),
  ].join('\n')}\n`;
}

const timesOf = (values: readonly number[]): Times => ({
  p50: round(percentile(values, 0.5)),
  p99: round(percentile(values, 0.99)),
  most: round(percentile(values, 1)),
});

const round = (value: number): number => Number(value.toFixed(1));
