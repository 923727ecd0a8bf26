// What alerts and dashboards compute again and again, recorded once.
//
// Invariants:
//   K1. A name says its level, its metric and its operation, as Prometheus recommends: `dormouse:metric:operation`.
//   K2. A share has a denominator of the same window; without traffic it is not a number, and compares as false.

export interface Recording {
  readonly record: string;
  readonly expr: string;
}

const share = (part: string, whole: string, by = ''): string =>
  `sum${by} (rate(${part}[10m])) / sum${by} (rate(${whole}[10m]))`;
const p95 = (histogram: string, ...by: readonly string[]): string =>
  `histogram_quantile(0.95, sum by (${['le', ...by].join(', ')}) (rate(${histogram}[10m])))`;

export const recordings: readonly Recording[] = [
  {
    record: 'dormouse:turns:failed_share10m',
    expr: share('dormouse_turns_total{outcome="failed"}', 'dormouse_turns_total'),
  },
  { record: 'dormouse:turn_duration_seconds:p95_10m', expr: p95('dormouse_turn_duration_seconds_bucket') },
  {
    record: 'dormouse:http_requests:failed_share10m',
    expr: '(sum (rate(dormouse_http_requests_total{status=~"5.."}[10m])) or vector(0)) / sum (rate(dormouse_http_requests_total[10m]))',
  },
  {
    record: 'dormouse:callbacks:refused_share10m',
    expr: share('dormouse_callbacks_total{status=~"4.."}', 'dormouse_callbacks_total'),
  },
  {
    record: 'dormouse:completions:failed_share10m',
    expr: share('dormouse_completions_total{outcome="failed"}', 'dormouse_completions_total', ' by (provider, model)'),
  },
  {
    record: 'dormouse:tool_attempts:failed_share10m',
    expr: share(
      'dormouse_tool_attempts_total{class=~"5xx|not_reached|no_answer"}',
      'dormouse_tool_attempts_total',
      ' by (tool_server)',
    ),
  },
  {
    record: 'dormouse:tool_callback_seconds:mean_1d',
    expr: 'sum by (tool_server) (rate(dormouse_tool_callback_seconds_sum[1d])) / sum by (tool_server) (rate(dormouse_tool_callback_seconds_count[1d]))',
  },
  { record: 'dormouse:tool_ack_seconds:p95_10m', expr: p95('dormouse_tool_ack_seconds_bucket', 'tool_server') },
  {
    record: 'dormouse:duplicates:share10m',
    expr: 'sum (rate(dormouse_duplicates_total[10m])) / sum (rate(dormouse_inputs_total[10m]))',
  },
  {
    record: 'dormouse:append_conflicts:share10m',
    expr: 'sum (rate(dormouse_append_conflicts_total[10m])) / sum (rate(dormouse_append_duration_seconds_count[10m]))',
  },
  { record: 'dormouse:timer_late_seconds:p95_10m', expr: p95('dormouse_timer_late_seconds_bucket') },
  {
    record: 'dormouse:store_duration_seconds:p95_10m',
    expr: p95('dormouse_store_duration_seconds_bucket', 'store', 'operation'),
  },
];
