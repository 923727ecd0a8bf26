// Two situations per alert, as series of one sample a minute: one in which it fires, with the labels that it has then,
// and one in which it stays silent although its metrics are there.

export interface AlertExample {
  readonly fires: Series;
  readonly labels: Readonly<Record<string, string>>;
  readonly silent: Series;
}

/** Values by series, in promtool's notation. */
export type Series = Readonly<Record<string, string>>;

const minutes = 60;
const still = (value: number | string): string => `${value}+0x${minutes}`;
const growing = (perMinute: number, from = 0): string => `${from}+${perMinute}x${minutes}`;
const alternating = (one: number, other: number): string => `${one} ${other} `.repeat(minutes / 2).trim();

const place = 'job="notifier",instance="a:7429"';
const ofPlace = { job: 'notifier', instance: 'a:7429' } as const;
const attempts = 'dormouse_tool_attempts_total';
const timers = 'dormouse_timer_late_seconds_bucket';
const store = 'dormouse_store_duration_seconds_bucket{store="mongo",operation="append"';
const redis = 'dormouse_store_duration_seconds_count{store="redis",operation="command"}';

const lag = (values: string): Series =>
  Object.fromEntries([0, 1, 2, 3].map((nth) => [`dormouse_consumer_lag{topic="inputs",partition="${nth}"}`, values]));

/** A counter with a share of `part` in all. */
const shared = (part: string, rest: string, of: { readonly bad: number; readonly good: number }): Series => ({
  [part]: growing(of.bad),
  [rest]: growing(of.good),
});

const bad = { bad: 60, good: 60 } as const;
const good = { bad: 1, good: 60 } as const;

const shares = (part: string, rest: string, labels: AlertExample['labels'] = {}): AlertExample => ({
  fires: shared(part, rest, bad),
  labels,
  silent: shared(part, rest, good),
});

const gauge = (series: string, high: number, low: number, labels: AlertExample['labels'] = {}): AlertExample => ({
  fires: { [series]: still(high) },
  labels,
  silent: { [series]: still(low) },
});

export const alertExamples: Readonly<Record<string, AlertExample>> = {
  DormouseProcessDown: {
    fires: { [`up{${place}}`]: still(0) },
    labels: ofPlace,
    silent: { [`up{${place}}`]: still(1), 'up{job="another",instance="b"}': still(0) },
  },
  DormouseConsumerLagGrowing: { fires: lag(growing(20)), labels: { topic: 'inputs' }, silent: lag(still(500)) },
  DormouseOldestInput: gauge('dormouse_oldest_unreleased_seconds{partition="1"}', 1_000, 100, { partition: '1' }),
  DormouseThreadsParked: gauge('dormouse_parked_threads', 1, 0),
  DormouseOldestToolCall: {
    fires: {
      'dormouse_tool_oldest_call_seconds{tool_server="a"}': still(400),
      'dormouse_tool_callback_seconds_sum{tool_server="a"}': still(0), // never answered yet
      'dormouse_tool_callback_seconds_count{tool_server="a"}': still(0),
      'dormouse_tool_oldest_call_seconds{tool_server="other"}': still(0),
    },
    labels: { tool_server: 'a' },
    silent: {
      'dormouse_tool_oldest_call_seconds{tool_server="quick"}': still(10),
      'dormouse_tool_oldest_call_seconds{tool_server="slow"}': still(400), // usually a minute
      'dormouse_tool_callback_seconds_sum{tool_server="slow"}': growing(60),
      'dormouse_tool_callback_seconds_count{tool_server="slow"}': growing(1),
    },
  },
  DormouseToolServerFailing: shares(
    `${attempts}{tool_server="a",class="5xx"}`,
    `${attempts}{tool_server="a",class="2xx"}`,
    {
      tool_server: 'a',
    },
  ),
  DormouseBreakerOpen: {
    fires: { 'dormouse_tool_breaker{tool_server="a",state="open"}': still(1) },
    labels: { tool_server: 'a' },
    silent: {
      'dormouse_tool_breaker{tool_server="a",state="open"}': still(0),
      'dormouse_tool_breaker{tool_server="a",state="closed"}': still(3),
    },
  },
  DormouseCallbacksRefused: shares('dormouse_callbacks_total{status="401"}', 'dormouse_callbacks_total{status="200"}'),
  DormouseCallbacksFailing: {
    fires: { 'dormouse_callbacks_total{status="503"}': growing(6) },
    labels: {},
    silent: {
      'dormouse_callbacks_total{status="503"}': still(7),
      'dormouse_callbacks_total{status="200"}': growing(6),
    },
  },
  DormouseModelFailing: shares(
    'dormouse_completions_total{provider="p",model="m",outcome="failed"}',
    'dormouse_completions_total{provider="p",model="m",outcome="recorded"}',
    { provider: 'p', model: 'm' },
  ),
  DormouseModelSlotsExhausted: {
    fires: { 'dormouse_completion_slots{state="waiting"}': still(3) },
    labels: {},
    silent: { 'dormouse_completion_slots{state="waiting"}': alternating(0, 3) },
  },
  DormouseTurnsFailing: shares('dormouse_turns_total{outcome="failed"}', 'dormouse_turns_total{outcome="completed"}'),
  DormouseRequestsFailing: shares(
    'dormouse_http_requests_total{route="GET /",status="503"}',
    'dormouse_http_requests_total{route="GET /",status="200"}',
  ),
  DormouseDuplicatesJump: shares(
    'dormouse_duplicates_total{kind="ToolResult"}',
    'dormouse_inputs_total{kind="ToolResult"}',
  ),
  DormouseAppendConflicts: shares('dormouse_append_conflicts_total', 'dormouse_append_duration_seconds_count'),
  DormouseTimersLate: {
    fires: {
      [`${timers}{le="60"}`]: still(0),
      [`${timers}{le="300"}`]: growing(9),
      [`${timers}{le="+Inf"}`]: growing(9),
    },
    labels: {},
    silent: {
      [`${timers}{le="1"}`]: growing(9),
      [`${timers}{le="60"}`]: growing(9),
      [`${timers}{le="+Inf"}`]: growing(9),
    },
  },
  DormouseTimersStuck: {
    fires: { dormouse_timers_due: still(1) },
    labels: {},
    silent: { dormouse_timers_due: alternating(0, 5) },
  },
  DormouseEventLoopDelay: gauge(`dormouse_event_loop_delay_seconds{${place}}`, 0.5, 0.01, ofPlace),
  DormouseStoreSlow: {
    fires: { [`${store},le="0.5"}`]: still(0), [`${store},le="1"}`]: growing(9), [`${store},le="+Inf"}`]: growing(9) },
    labels: { store: 'mongo', operation: 'append' },
    silent: {
      [`${store},le="0.01"}`]: growing(9),
      [`${store},le="0.5"}`]: growing(9),
      [`${store},le="+Inf"}`]: growing(9),
    },
  },
  DormouseRedisAway: {
    fires: { [redis]: still(100), 'dormouse_inputs_total{kind="UserMessage"}': growing(9) },
    labels: {},
    silent: { [redis]: still(100), 'dormouse_inputs_total{kind="UserMessage"}': still(9) },
  },
  DormouseTakeoverStorm: {
    fires: { dormouse_takeovers_total: growing(4), ...lag(still(0)) },
    labels: {},
    silent: { dormouse_takeovers_total: still(8), ...lag(still(0)) },
  },
  DormouseDiskLow: gauge(`dormouse_disk_free_bytes{${place}}`, 1_000_000_000, 50_000_000_000, ofPlace),
  DormouseSpansDropped: {
    fires: { 'dormouse_spans_dropped_total{job="notifier"}': growing(1) },
    labels: { job: 'notifier' },
    silent: { 'dormouse_spans_dropped_total{job="notifier"}': still(5) },
  },
};
