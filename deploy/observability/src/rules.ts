// The alerts, and the file of rules that Prometheus loads.
//
// Invariants:
//   A1. Every alert has a page of its name in docs/runbooks, and `runbook_url` names it by its path in the repository.
//   A2. Thresholds are beginnings for an installation without a history, not measurements: each is one line here.
//   A3. Annotations have no templates: labels say which series it is.
import type { Recording } from './recordings.ts';

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  /** `page`: users wait or data is in danger. `ticket`: within a working day. */
  readonly severity: 'page' | 'ticket';
  readonly summary: string;
}

const services = 'ingress-gateway|callback-gateway|thread-processor|tool-dispatcher|notifier|standalone';

export const alertRules: readonly AlertRule[] = [
  {
    alert: 'DormouseProcessDown',
    expr: `up{job=~"${services}"} == 0`,
    for: '2m',
    severity: 'page',
    summary: 'A process of Dormouse does not answer a scrape.',
  },
  {
    alert: 'DormouseConsumerLagGrowing',
    expr: 'sum by (topic) (dormouse_consumer_lag) > 100 and sum by (topic) (deriv(dormouse_consumer_lag[10m])) > 0',
    for: '10m',
    severity: 'page',
    summary: 'More records arrive than are finished.',
  },
  {
    alert: 'DormouseOldestInput',
    expr: 'max by (partition) (dormouse_oldest_unreleased_seconds) > 900',
    for: '5m',
    severity: 'page',
    summary: 'An input was delivered long ago and is not finished.',
  },
  {
    alert: 'DormouseThreadsParked',
    expr: 'sum (dormouse_parked_threads) > 0',
    for: '1m',
    severity: 'ticket',
    summary: 'Threads are parked and wait for an operator.',
  },
  {
    alert: 'DormouseOldestToolCall',
    // A tool that takes hours is as old as it usually is.
    expr: 'max by (tool_server) (dormouse_tool_oldest_call_seconds) > 300 unless max by (tool_server) (dormouse_tool_oldest_call_seconds) < 10 * dormouse:tool_callback_seconds:mean_1d',
    for: '2m', // a call without an acknowledgement is given up after ten minutes: with five more, one alone would be gone
    severity: 'ticket',
    summary: 'A tool server owes an answer for far longer than usual.',
  },
  {
    alert: 'DormouseToolServerFailing',
    expr: 'dormouse:tool_attempts:failed_share10m > 0.25',
    for: '10m',
    severity: 'ticket',
    summary: 'A large share of the POSTs to a tool server fails.',
  },
  {
    alert: 'DormouseBreakerOpen',
    expr: 'sum by (tool_server) (dormouse_tool_breaker{state=~"open|half_open"}) > 0',
    for: '5m',
    severity: 'ticket',
    summary: 'A tool server keeps failing and gets single attempts only.',
  },
  {
    alert: 'DormouseCallbacksRefused',
    expr: 'dormouse:callbacks:refused_share10m > 0.1',
    for: '10m',
    severity: 'ticket',
    summary: 'A large share of the callbacks of tool servers is refused.',
  },
  {
    alert: 'DormouseCallbacksFailing',
    expr: 'sum (rate(dormouse_callbacks_total{status=~"5.."}[5m])) > 0',
    for: '5m',
    severity: 'page',
    summary: 'Callbacks cannot be made durable.',
  },
  {
    alert: 'DormouseModelFailing',
    expr: 'dormouse:completions:failed_share10m > 0.1',
    for: '10m',
    severity: 'page',
    summary: 'Completions fail after all their attempts.',
  },
  {
    alert: 'DormouseModelSlotsExhausted',
    expr: 'min_over_time(sum (dormouse_completion_slots{state="waiting"})[10m:1m]) > 0',
    for: '5m',
    severity: 'ticket',
    summary: 'Completions wait for a slot all the time.',
  },
  {
    alert: 'DormouseTurnsFailing',
    expr: 'dormouse:turns:failed_share10m > 0.1',
    for: '10m',
    severity: 'page',
    summary: 'A large share of the turns fails.',
  },
  {
    alert: 'DormouseRequestsFailing',
    expr: 'dormouse:http_requests:failed_share10m > 0.05',
    for: '5m',
    severity: 'page',
    summary: 'A large share of the HTTP requests is answered with 5xx.',
  },
  {
    alert: 'DormouseDuplicatesJump',
    expr: 'dormouse:duplicates:share10m > 0.1',
    for: '10m',
    severity: 'ticket',
    summary: 'A large share of the inputs was decided before.',
  },
  {
    alert: 'DormouseAppendConflicts',
    expr: 'dormouse:append_conflicts:share10m > 0.05',
    for: '10m',
    severity: 'page',
    summary: 'Two processes write the same threads.',
  },
  {
    alert: 'DormouseTimersLate',
    expr: 'dormouse:timer_late_seconds:p95_10m > 60',
    for: '5m',
    severity: 'ticket',
    summary: 'Timers fire much later than they are due.',
  },
  {
    alert: 'DormouseTimersStuck',
    expr: 'sum (min_over_time(dormouse_timers_due[10m])) > 0',
    for: '5m',
    severity: 'page',
    summary: 'Timers are due and do not fire.',
  },
  {
    alert: 'DormouseEventLoopDelay',
    expr: 'max by (job, instance) (dormouse_event_loop_delay_seconds) > 0.25',
    for: '5m',
    severity: 'ticket',
    summary: 'The event loop of a process is blocked again and again.',
  },
  {
    alert: 'DormouseStoreSlow',
    expr: 'dormouse:store_duration_seconds:p95_10m{operation!="subscribe"} > 0.5',
    for: '10m',
    severity: 'page',
    summary: 'Round trips to a store take long.',
  },
  {
    alert: 'DormouseRedisAway',
    expr: 'sum (rate(dormouse_store_duration_seconds_count{store="redis",operation="command"}[5m])) == 0 and sum (rate(dormouse_inputs_total[5m])) > 0',
    for: '5m',
    severity: 'ticket',
    summary: 'Inputs are handled, and no command reaches Redis.',
  },
  {
    alert: 'DormouseTakeoverStorm',
    expr: 'sum (increase(dormouse_takeovers_total[30m])) > 5 * count (count by (partition) (dormouse_consumer_lag{topic="inputs"}))',
    for: '5m',
    severity: 'page',
    summary: 'Partitions change their owner again and again.',
  },
  {
    alert: 'DormouseDiskLow',
    expr: 'min by (job, instance) (dormouse_disk_free_bytes) < 2e9 or min by (job, instance) (predict_linear(dormouse_disk_free_bytes[6h], 86400)) < 0',
    for: '10m',
    severity: 'page',
    summary: 'The disk of a process is full soon.',
  },
  {
    alert: 'DormouseSpansDropped',
    expr: 'sum by (job) (increase(dormouse_spans_dropped_total[10m])) > 0',
    for: '5m',
    severity: 'ticket',
    summary: 'Spans are not exported: traces have gaps.',
  },
];

/** The path of an alert's runbook. (A1) */
export const runbookOf = (alert: string): string => `docs/runbooks/${alert}.md`;

export function rulesYaml(recordings: readonly Recording[], alerts: readonly AlertRule[]): string {
  const lines = [
    '# Made by deploy/observability/src/write.ts. A test holds it equal to its source.',
    'groups:',
    '  - name: dormouse-recordings',
    '    rules:',
    ...recordings.flatMap(({ record, expr }) => [`      - record: ${record}`, `        expr: ${scalar(expr)}`]),
    '  - name: dormouse-alerts',
    '    rules:',
    ...alerts.flatMap(yamlOf),
  ];
  return `${lines.join('\n')}\n`;
}

const yamlOf = ({ alert, expr, for: lasting, severity, summary }: AlertRule): readonly string[] => [
  `      - alert: ${alert}`,
  `        expr: ${scalar(expr)}`,
  `        for: ${lasting}`,
  `        labels: { severity: ${severity} }`,
  `        annotations:`,
  `          summary: ${scalar(summary)}`,
  `          runbook_url: ${runbookOf(alert)}`,
];

/** A single-quoted scalar of YAML. */
const scalar = (text: string): string => `'${text.replaceAll("'", "''")}'`;
