// Every metric once: the registry, the series that exist from the start, the reference page and the tests are made from
// this table.
//
// Invariants:
//   W1. A name contains its unit, as the OpenTelemetry Collector writes it for Prometheus. The GenAI names are those of
//       OpenTelemetry's conventions, which have their unit beside them: only they have a `unit` here.
//   W2. No label has the id of a thread, a call, a user or a tenant as its value.
//   W3. A label with a list of values has no others; one with a single value is constant, and callers do not pass it.
//       `open` values come from an installation: tool servers, models, partitions. An `optional` label is open, and
//       absent where it does not apply.
//   W4. A metric is exported from the start by each of its services: every list of values at 0, with `other` for an
//       open label and without an optional one; a gauge has the series that its observer reports. Of a gauge `other` is
//       the largest of the values that are counted as it.
import type { BusInput } from '../bus/input-bus.ts';
import { postErrors } from '../stores/tool-activity.ts';

export const metricServices = [
  'ingress-gateway',
  'callback-gateway',
  'thread-processor',
  'tool-dispatcher',
  'notifier',
] as const;

/** A service that exports metrics; a standalone process is all of them. */
export type MetricService = (typeof metricServices)[number];

type LabelValues = 'open' | 'optional' | readonly string[];

interface Description {
  readonly help: string;
  readonly labels: Readonly<Record<string, LabelValues>>;
  readonly services: readonly MetricService[];
  /** `s` or `{token}`, for names of OpenTelemetry's conventions. (W1) */
  readonly unit?: 's' | '{token}';
  /** True of a name that a newer convention replaces; a setting leaves it out. */
  readonly isOldGenAi?: true;
}

interface Counter extends Description {
  readonly kind: 'counter';
}

interface Gauge extends Description {
  readonly kind: 'gauge';
}

interface Histogram extends Description {
  readonly kind: 'histogram';
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[];
}

export type MetricDescription = Counter | Gauge | Histogram;

/** A metric that does not say otherwise has no labels, and the thread-processor exports it. */
type Row = Partial<Omit<Description, 'help'>>;
const unlessSaid: Pick<Description, 'labels' | 'services'> = { labels: {}, services: ['thread-processor'] };

const counter = (help: string, row: Row = {}): Counter => ({ kind: 'counter', help, ...unlessSaid, ...row });
const gauge = (help: string, row: Row = {}): Gauge => ({ kind: 'gauge', help, ...unlessSaid, ...row });
const histogram = (help: string, row: Row & Pick<Histogram, 'buckets'>): Histogram => ({
  ...{ kind: 'histogram', help, ...unlessSaid, ...row },
});

const everyService = metricServices;
const dispatcher = ['tool-dispatcher'] as const;
const doors = ['ingress-gateway', 'callback-gateway'] as const;

/** Seconds of work inside a process, or of one round trip. */
const shortTimes = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const;
const requestTimes = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;
/** From 100 ms to seven days: a call waits for a machine, or for a person. */
const waitTimes = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 21_600, 86_400, 259_200, 604_800] as const;
const turnTimes = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 3_600, 86_400, 604_800] as const;
/** As OpenTelemetry's conventions for GenAI have them. */
const modelTimes = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92] as const;
const tokenCounts = [
  1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
] as const;

export const turnOutcomes = ['completed', 'asleep', 'interrupted', 'failed', 'budget_exceeded', 'closed'] as const;
export const completionOutcomes = ['recorded', 'interrupted', 'failed'] as const;
const callOutcomes = ['result', 'error', 'interrupted', 'timed_out', 'denied', 'outcome_unknown'] as const;
/** How one POST to a tool server ended: the class of its status, or where it broke. */
export const attemptClasses = ['2xx', '3xx', '4xx', '5xx', 'not_reached', 'no_answer', 'not_sent'] as const;
const retryClasses = ['tool', 'model'] as const;
export const waitKinds = ['tool_call', 'approval', 'choice', 'oauth', 'timer', 'slot'] as const;
/** `ClientInput`: any input of a client; its id does not say which. */
export const duplicateKinds = [
  'ClientInput',
  'ThreadOpening',
  'ToolsetsResult',
  'MigrationResult',
  'CompletionResult',
  'ToolResult',
  'SubscriptionEvent',
  'LoginPrompt',
  'ChoicePrompt',
  'ChoiceAnswerFailure',
  'DispatchFailure',
  'CallbackRejection',
  'ChildReport',
  'ParentMessage',
  'ContentErasure',
  'TimerFiring',
] as const;
export const threadStatuses = ['opening', 'parked', 'closed', 'thinking', 'waiting', 'idle'] as const;
/** Each of them: a new kind of input does not compile without its line here. */
const inputKinds = Object.keys({
  ThreadOpening: true,
  UserMessage: true,
  InterruptRequest: true,
  RetryRequest: true,
  CloseRequest: true,
  RetentionEnd: true,
  CancelCallRequest: true,
  CancelSubscriptionRequest: true,
  RefreshToolsetsRequest: true,
  MigrationRequest: true,
  ScheduleRequest: true,
  UnscheduleRequest: true,
  ExternalEvent: true,
  AssignmentRequest: true,
  ChoiceAnswer: true,
  ToolsetsResult: true,
  MigrationResult: true,
  CompletionResult: true,
  CompletionFailure: true,
  ToolResult: true,
  SubscriptionEvent: true,
  LoginPrompt: true,
  ChoicePrompt: true,
  ChoiceAnswerFailure: true,
  DispatchFailure: true,
  CallbackRejection: true,
  ChildReport: true,
  ParentMessage: true,
  ContentErasure: true,
  TimerFiring: true,
  ViewUpdate: true,
  ReplayWake: true,
} satisfies Record<BusInput['kind'], true>);

const genAiModel = {
  'gen_ai.operation.name': ['chat'],
  'gen_ai.provider.name': 'open',
  'gen_ai.request.model': 'open',
} as const;

/** How a delivery to a customer's endpoint ended. */
const webhookOutcomes = ['delivered', 'failed', 'aborted'] as const;

const metricTable = {
  dormouse_turns_total: counter('Turns that ended. A turn that a retry continues ends again.', {
    labels: { outcome: turnOutcomes },
  }),
  dormouse_turn_duration_seconds: histogram(
    'Time from the commit that begins a turn to the commit that ends it. A turn that the family or a sleep begins counts from the first one of its chain.',
    { buckets: turnTimes },
  ),
  dormouse_inputs_total: counter('Inputs that the bus delivered, redeliveries too.', { labels: { kind: inputKinds } }),
  dormouse_input_wait_seconds: histogram('Time in `inputs`: from the publication of an input until it is decided.', {
    buckets: turnTimes,
  }),
  dormouse_inputs_in_flight: gauge('Inputs and recoveries that were delivered and are not released.'),
  dormouse_lanes: gauge('Threads with a lane in memory.'),
  dormouse_redeliveries_total: counter(
    'Inputs that an earlier owner had, and recoveries of commits that may still owe.',
  ),
  dormouse_takeovers_total: counter('Partitions of `inputs` that were assigned to this process.'),
  dormouse_rebalances_total: counter('Assignments of partitions of `inputs` that ended before the process stopped.'),
  dormouse_consumer_lag: gauge(
    'Records of a partition of this process that are not finished: from the committed one to the end of the log.',
    { labels: { topic: 'open', partition: 'open' }, services: ['thread-processor', 'tool-dispatcher', 'notifier'] },
  ),
  dormouse_oldest_unreleased_seconds: gauge(
    'Age of the oldest input that was delivered and is not released; 0 for none.',
    { labels: { partition: 'open' } },
  ),
  dormouse_refusals_total: counter('Messages and requests that a thread refused, by the code in its log.', {
    labels: { code: 'open' },
  }),
  dormouse_duplicates_total: counter(
    'Inputs that were decided before, and callbacks that were accepted before, by the kind of input.',
    { labels: { kind: duplicateKinds }, services: ['callback-gateway', 'thread-processor'] },
  ),
  dormouse_decide_duration_seconds: histogram('Time to decide one input.', { buckets: shortTimes }),
  dormouse_append_duration_seconds: histogram('Time until a group of commits has its outcomes.', {
    buckets: shortTimes,
  }),
  dormouse_append_conflicts_total: counter('Commits whose version another commit had taken.'),
  dormouse_payment_duration_seconds: histogram('Time to hand over what a list of commits owes.', {
    buckets: shortTimes,
  }),
  dormouse_dispatch_duration_seconds: histogram(
    'Time from the commit that owes a call, a withdrawal or a load until the dispatcher has paid it.',
    { buckets: turnTimes, services: dispatcher },
  ),
  dormouse_completions_total: counter('Completions that ended, with all their attempts.', {
    labels: { provider: 'open', model: 'open', outcome: completionOutcomes },
  }),
  dormouse_completion_slots: gauge('Completions that have a slot, and those that wait for one.', {
    labels: { state: ['taken', 'waiting'] },
  }),
  dormouse_tool_calls_total: counter(
    'Tool calls that were settled. `runtime` settles calls of built-in and unknown tools.',
    { labels: { tool_server: 'open', outcome: callOutcomes } },
  ),
  dormouse_tool_wait_seconds: histogram(
    'Time from the request of a call to its outcome, calls that wait for a person too.',
    { labels: { tool_server: 'open' }, buckets: waitTimes },
  ),
  dormouse_tool_attempts_total: counter(
    'POSTs to tool servers, by how each ended: calls, notices and answers of choices.',
    { labels: { tool_server: 'open', class: attemptClasses }, services: ['tool-dispatcher', 'notifier'] },
  ),
  dormouse_tool_ack_seconds: histogram('Time until a tool server acknowledged a POST with a 2xx.', {
    labels: { tool_server: 'open' },
    buckets: requestTimes,
    services: ['tool-dispatcher', 'notifier'],
  }),
  dormouse_tool_errors_total: counter(
    'POSTs to tool servers that failed, as health counts them: 5xx, connections that were refused or broke, timeouts, and 4xx with redirects.',
    { labels: { tool_server: 'open', error: postErrors }, services: ['tool-dispatcher', 'notifier'] },
  ),
  dormouse_tool_callback_seconds: histogram(
    'Time from the request of a call, or from the last answer of a person to it, until a result of its tool server settled it.',
    { labels: { tool_server: 'open' }, buckets: waitTimes },
  ),
  dormouse_tool_discovery_age_seconds: gauge(
    'Time since this process last fetched a valid manifest of the tool server, if it did within a week; the oldest, where tenants share a name.',
    { labels: { tool_server: 'open' }, services: dispatcher },
  ),
  dormouse_tool_breaker: gauge(
    'Tenants whose gate to a tool server is in this state; a gate that nothing uses is forgotten.',
    { labels: { tool_server: 'open', state: ['closed', 'open', 'half_open'] }, services: dispatcher },
  ),
  dormouse_tool_oldest_call_seconds: gauge(
    'Age of the oldest call that its tool server owes an answer, 0 for none: the one that its health names. After a person was asked it counts from the answer. Exported by the owner of partition 0.',
    { labels: { tool_server: 'open' } },
  ),
  dormouse_retries_total: counter(
    'Tries after the first: of a call at its tool server, of a completion at its model.',
    { labels: { class: retryClasses }, services: ['thread-processor', 'tool-dispatcher'] },
  ),
  dormouse_callbacks_total: counter('Callbacks by the status of their answers.', {
    labels: { status: ['200', '400', '401', '403', '410', '413', '415', '422', '500', '503'] },
    services: ['callback-gateway'],
  }),
  dormouse_threads: gauge('Threads by status, as lists show them; exported by the owner of partition 0.', {
    labels: { status: threadStatuses },
  }),
  dormouse_oldest_wait_seconds: gauge(
    'Age of the oldest wait of each kind of `waiting_on`, 0 for none; exported by the owner of partition 0, `slot` by each process of its own completions.',
    { labels: { kind: waitKinds } },
  ),
  dormouse_subscriptions: gauge('Open subscriptions of all threads; exported by the owner of partition 0.'),
  dormouse_parked_threads: gauge('Threads that are parked; exported by the owner of partition 0.'),
  dormouse_timers_due: gauge('Timers of this process that are due and have not fired.'),
  dormouse_timer_late_seconds: histogram('Time from the due time of a timer to its firing.', { buckets: waitTimes }),
  dormouse_store_duration_seconds: histogram(
    'Time of one round trip to a store; of sqlite, until a write is on disk.',
    { labels: { store: 'open', operation: 'open' }, buckets: shortTimes, services: everyService },
  ),
  dormouse_http_requests_total: counter(
    'HTTP requests that were answered; a route is a template, whatever the method.',
    { labels: { route: 'open', status: 'open' }, services: doors },
  ),
  dormouse_http_duration_seconds: histogram('Time to answer an HTTP request; event streams are left out.', {
    labels: { route: 'open' },
    buckets: requestTimes,
    services: doors,
  }),
  dormouse_event_streams: gauge('Event streams that clients have open.', { services: ['ingress-gateway'] }),
  dormouse_event_stream_lag_seconds: histogram(
    'Time from the commit of an event until it is written to a stream that was open then.',
    { buckets: requestTimes, services: ['ingress-gateway'] },
  ),
  dormouse_event_streams_lagged_total: counter(
    'Event streams that ended with `lagged`, because their readers were too slow.',
    { services: ['ingress-gateway'] },
  ),
  dormouse_webhook_deliveries_total: counter(
    'Deliveries to endpoints of customers that have ended. One that is sent again ends again.',
    { labels: { outcome: webhookOutcomes }, services: ['notifier'] },
  ),
  dormouse_retention_threads_total: counter('Threads that were removed at the end of their retention.', {
    services: ['ingress-gateway'],
  }),
  dormouse_retention_bytes_total: counter(
    'Bytes of logs and blobs that were removed with threads, as the quota stored_bytes_max counts them.',
    { services: ['ingress-gateway'] },
  ),
  dormouse_spans_dropped_total: counter(
    'Spans that were not exported, because there were too many or the exporter failed.',
    { services: everyService },
  ),
  dormouse_event_loop_delay_seconds: gauge(
    'Delay of the event loop: its 99th percentile over the last 10 to 20 seconds.',
    { services: everyService },
  ),
  dormouse_disk_free_bytes: gauge(
    'Free space for this process on the disk of its data directory, or of its working directory.',
    { services: everyService },
  ),
  dormouse_data_directory_bytes: gauge(
    'Bytes in use of the data directory of one process; pages of the database that are free for reuse are not in it.',
    { services: ['ingress-gateway'] },
  ),
  dormouse_data_directory_warn_bytes: gauge('What DORMOUSE_DATA_DIR_WARN_BYTES says; 0 where it is not set.', {
    services: ['ingress-gateway'],
  }),
  nodejs_gc_duration_seconds: histogram('Time of each garbage collection.', {
    labels: { kind: ['major', 'minor', 'incremental', 'weakcb'] },
    buckets: shortTimes,
    services: everyService,
  }),
  process_resident_memory_bytes: gauge('Memory of the process that is resident.', { services: everyService }),
  'gen_ai.client.operation.duration': histogram('Time of one attempt at a completion.', {
    unit: 's',
    labels: { ...genAiModel, 'error.type': 'optional' },
    buckets: modelTimes,
  }),
  'gen_ai.client.operation.time_to_first_chunk': histogram(
    'Time from the beginning of an attempt to the first part of its answer.',
    { unit: 's', labels: genAiModel, buckets: modelTimes },
  ),
  'gen_ai.client.inference.usage.input_tokens': counter('Input tokens, as the provider counts them.', {
    unit: '{token}',
    labels: { ...genAiModel, 'gen_ai.token.modality': ['unknown'] },
  }),
  'gen_ai.client.inference.usage.output_tokens': counter('Output tokens, as the provider counts them.', {
    unit: '{token}',
    labels: { ...genAiModel, 'gen_ai.token.modality': ['unknown'] },
  }),
  'gen_ai.client.token.usage': histogram('Tokens of one attempt; the older name of the usage.', {
    unit: '{token}',
    labels: { ...genAiModel, 'gen_ai.token.type': ['input', 'output'] },
    buckets: tokenCounts,
    isOldGenAi: true,
  }),
  'gen_ai.execute_tool.duration': histogram('Time from the request of a tool call to its outcome.', {
    unit: 's',
    labels: { 'gen_ai.operation.name': ['execute_tool'], 'gen_ai.tool.name': 'open', 'error.type': 'optional' },
    buckets: waitTimes,
  }),
};

type Table = typeof metricTable;
type NameOf<Kind extends MetricDescription['kind']> = {
  [Name in keyof Table]: Table[Name] extends { readonly kind: Kind } ? Name : never;
}[keyof Table];

export type MetricName = keyof Table;
export type CounterName = NameOf<'counter'>;
export type HistogramName = NameOf<'histogram'>;
export type GaugeName = NameOf<'gauge'>;

export const metricNames = Object.keys(metricTable) as MetricName[];

export const describedMetric = (name: MetricName): MetricDescription => metricTable[name];

/** The name in Prometheus text, UTF-8 names off; the Collector makes the same of what is pushed. (W1) */
export function prometheusName(name: MetricName): string {
  const { kind, unit } = describedMetric(name);
  const plain = name.replaceAll('.', '_') + (unit === 's' ? '_seconds' : '');
  return kind === 'counter' && !plain.endsWith('_total') ? `${plain}_total` : plain;
}

/** The metrics of a process with these services. */
export const metricsOf = (services: readonly MetricService[], withOldGenAi: boolean): readonly MetricName[] =>
  metricNames.filter((name) => {
    const { services: exporters, isOldGenAi = false } = describedMetric(name);
    return exporters.some((service) => services.includes(service)) && (withOldGenAi || !isOldGenAi);
  });
