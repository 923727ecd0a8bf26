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

export interface CounterDescription extends Description {
  readonly kind: 'counter';
}

export interface GaugeDescription extends Description {
  readonly kind: 'gauge';
}

export interface HistogramDescription extends Description {
  readonly kind: 'histogram';
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[];
}

export type MetricDescription = CounterDescription | GaugeDescription | HistogramDescription;

const everyService = metricServices;
const processor = ['thread-processor'] as const;
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
export const callOutcomes = ['result', 'error', 'interrupted', 'timed_out', 'denied', 'outcome_unknown'] as const;
/** How one POST to a tool server ended: the class of its status, or where it broke. */
export const attemptClasses = ['2xx', '3xx', '4xx', '5xx', 'not_reached', 'no_answer', 'not_sent'] as const;
export const retryClasses = ['tool', 'model'] as const;
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
export const inputKinds = [
  'ThreadOpening',
  'UserMessage',
  'InterruptRequest',
  'RetryRequest',
  'CloseRequest',
  'RetentionEnd',
  'CancelCallRequest',
  'CancelSubscriptionRequest',
  'RefreshToolsetsRequest',
  'MigrationRequest',
  'ScheduleRequest',
  'UnscheduleRequest',
  'ExternalEvent',
  'AssignmentRequest',
  'ChoiceAnswer',
  'ToolsetsResult',
  'MigrationResult',
  'CompletionResult',
  'CompletionFailure',
  'ToolResult',
  'SubscriptionEvent',
  'LoginPrompt',
  'ChoicePrompt',
  'ChoiceAnswerFailure',
  'DispatchFailure',
  'CallbackRejection',
  'ChildReport',
  'ParentMessage',
  'TimerFiring',
  'ViewUpdate',
  'ReplayWake',
] as const;

const genAiModel = {
  'gen_ai.operation.name': ['chat'],
  'gen_ai.provider.name': 'open',
  'gen_ai.request.model': 'open',
} as const;

/** How a delivery to a customer's endpoint ended. */
export const webhookOutcomes = ['delivered', 'failed', 'aborted'] as const;

export const metricTable = {
  dormouse_turns_total: {
    kind: 'counter',
    help: 'Turns that ended. A turn that a retry continues ends again.',
    labels: { outcome: turnOutcomes },
    services: processor,
  },
  dormouse_turn_duration_seconds: {
    kind: 'histogram',
    help: 'Time from the commit that begins a turn to the commit that ends it. A turn that the family or a sleep begins counts from the first one of its chain.',
    labels: {},
    buckets: turnTimes,
    services: processor,
  },
  dormouse_inputs_total: {
    kind: 'counter',
    help: 'Inputs that the bus delivered, redeliveries too.',
    labels: { kind: inputKinds },
    services: processor,
  },
  dormouse_input_wait_seconds: {
    kind: 'histogram',
    help: 'Time in `inputs`: from the publication of an input until it is decided.',
    labels: {},
    buckets: turnTimes,
    services: processor,
  },
  dormouse_inputs_in_flight: {
    kind: 'gauge',
    help: 'Inputs and recoveries that were delivered and are not released.',
    labels: {},
    services: processor,
  },
  dormouse_lanes: { kind: 'gauge', help: 'Threads with a lane in memory.', labels: {}, services: processor },
  dormouse_redeliveries_total: {
    kind: 'counter',
    help: 'Inputs that an earlier owner had, and recoveries of commits that may still owe.',
    labels: {},
    services: processor,
  },
  dormouse_takeovers_total: {
    kind: 'counter',
    help: 'Partitions of `inputs` that were assigned to this process.',
    labels: {},
    services: processor,
  },
  dormouse_rebalances_total: {
    kind: 'counter',
    help: 'Assignments of partitions of `inputs` that ended before the process stopped.',
    labels: {},
    services: processor,
  },
  dormouse_consumer_lag: {
    kind: 'gauge',
    help: 'Records of a partition of this process that are not finished: from the committed one to the end of the log.',
    labels: { topic: 'open', partition: 'open' },
    services: ['thread-processor', 'tool-dispatcher', 'notifier'],
  },
  dormouse_oldest_unreleased_seconds: {
    kind: 'gauge',
    help: 'Age of the oldest input that was delivered and is not released; 0 for none.',
    labels: { partition: 'open' },
    services: processor,
  },
  dormouse_refusals_total: {
    kind: 'counter',
    help: 'Messages and requests that a thread refused, by the code in its log.',
    labels: { code: 'open' },
    services: processor,
  },
  dormouse_duplicates_total: {
    kind: 'counter',
    help: 'Inputs that were decided before, and callbacks that were accepted before, by the kind of input.',
    labels: { kind: duplicateKinds },
    services: ['callback-gateway', 'thread-processor'],
  },
  dormouse_decide_duration_seconds: {
    kind: 'histogram',
    help: 'Time to decide one input.',
    labels: {},
    buckets: shortTimes,
    services: processor,
  },
  dormouse_append_duration_seconds: {
    kind: 'histogram',
    help: 'Time until a group of commits has its outcomes.',
    labels: {},
    buckets: shortTimes,
    services: processor,
  },
  dormouse_append_conflicts_total: {
    kind: 'counter',
    help: 'Commits whose version another commit had taken.',
    labels: {},
    services: processor,
  },
  dormouse_payment_duration_seconds: {
    kind: 'histogram',
    help: 'Time to hand over what a list of commits owes.',
    labels: {},
    buckets: shortTimes,
    services: processor,
  },
  dormouse_dispatch_duration_seconds: {
    kind: 'histogram',
    help: 'Time from the commit that owes a call, a withdrawal or a load until the dispatcher has paid it.',
    labels: {},
    buckets: turnTimes,
    services: dispatcher,
  },
  dormouse_completions_total: {
    kind: 'counter',
    help: 'Completions that ended, with all their attempts.',
    labels: { provider: 'open', model: 'open', outcome: completionOutcomes },
    services: processor,
  },
  dormouse_completion_slots: {
    kind: 'gauge',
    help: 'Completions that have a slot, and those that wait for one.',
    labels: { state: ['taken', 'waiting'] },
    services: processor,
  },
  dormouse_tool_calls_total: {
    kind: 'counter',
    help: 'Tool calls that were settled. `runtime` settles calls of built-in and unknown tools.',
    labels: { tool_server: 'open', outcome: callOutcomes },
    services: processor,
  },
  dormouse_tool_wait_seconds: {
    kind: 'histogram',
    help: 'Time from the request of a call to its outcome, calls that wait for a person too.',
    labels: { tool_server: 'open' },
    buckets: waitTimes,
    services: processor,
  },
  dormouse_tool_attempts_total: {
    kind: 'counter',
    help: 'POSTs to tool servers, by how each ended: calls, notices and answers of choices.',
    labels: { tool_server: 'open', class: attemptClasses },
    services: ['tool-dispatcher', 'notifier'],
  },
  dormouse_tool_ack_seconds: {
    kind: 'histogram',
    help: 'Time until a tool server acknowledged a POST with a 2xx.',
    labels: { tool_server: 'open' },
    buckets: requestTimes,
    services: ['tool-dispatcher', 'notifier'],
  },
  dormouse_tool_errors_total: {
    kind: 'counter',
    help: 'POSTs to tool servers that failed, as health counts them: 5xx, connections that were refused or broke, timeouts, and 4xx with redirects.',
    labels: { tool_server: 'open', error: postErrors },
    services: ['tool-dispatcher', 'notifier'],
  },
  dormouse_tool_callback_seconds: {
    kind: 'histogram',
    help: 'Time from the request of a call, or from the last answer of a person to it, until a result of its tool server settled it.',
    labels: { tool_server: 'open' },
    buckets: waitTimes,
    services: processor,
  },
  dormouse_tool_discovery_age_seconds: {
    kind: 'gauge',
    help: 'Time since this process last fetched a valid manifest of the tool server, if it did within a week; the oldest, where tenants share a name.',
    labels: { tool_server: 'open' },
    services: dispatcher,
  },
  dormouse_tool_breaker: {
    kind: 'gauge',
    help: 'Tenants whose gate to a tool server is in this state; a gate that nothing uses is forgotten.',
    labels: { tool_server: 'open', state: ['closed', 'open', 'half_open'] },
    services: dispatcher,
  },
  dormouse_tool_oldest_call_seconds: {
    kind: 'gauge',
    help: 'Age of the oldest call that its tool server owes an answer, 0 for none: the one that its health names. After a person was asked it counts from the answer. Exported by the owner of partition 0.',
    labels: { tool_server: 'open' },
    services: processor,
  },
  dormouse_retries_total: {
    kind: 'counter',
    help: 'Tries after the first: of a call at its tool server, of a completion at its model.',
    labels: { class: retryClasses },
    services: ['thread-processor', 'tool-dispatcher'],
  },
  dormouse_callbacks_total: {
    kind: 'counter',
    help: 'Callbacks by the status of their answers.',
    labels: { status: ['200', '400', '401', '403', '410', '413', '415', '422', '500', '503'] },
    services: ['callback-gateway'],
  },
  dormouse_threads: {
    kind: 'gauge',
    help: 'Threads by status, as lists show them; exported by the owner of partition 0.',
    labels: { status: threadStatuses },
    services: processor,
  },
  dormouse_oldest_wait_seconds: {
    kind: 'gauge',
    help: 'Age of the oldest wait of each kind of `waiting_on`, 0 for none; exported by the owner of partition 0, `slot` by each process of its own completions.',
    labels: { kind: waitKinds },
    services: processor,
  },
  dormouse_subscriptions: {
    kind: 'gauge',
    help: 'Open subscriptions of all threads; exported by the owner of partition 0.',
    labels: {},
    services: processor,
  },
  dormouse_parked_threads: {
    kind: 'gauge',
    help: 'Threads that are parked; exported by the owner of partition 0.',
    labels: {},
    services: processor,
  },
  dormouse_timers_due: {
    kind: 'gauge',
    help: 'Timers of this process that are due and have not fired.',
    labels: {},
    services: processor,
  },
  dormouse_timer_late_seconds: {
    kind: 'histogram',
    help: 'Time from the due time of a timer to its firing.',
    labels: {},
    buckets: waitTimes,
    services: processor,
  },
  dormouse_store_duration_seconds: {
    kind: 'histogram',
    help: 'Time of one round trip to a store; of sqlite, until a write is on disk.',
    labels: { store: 'open', operation: 'open' },
    buckets: shortTimes,
    services: everyService,
  },
  dormouse_http_requests_total: {
    kind: 'counter',
    help: 'HTTP requests that were answered; a route is a template, whatever the method.',
    labels: { route: 'open', status: 'open' },
    services: doors,
  },
  dormouse_http_duration_seconds: {
    kind: 'histogram',
    help: 'Time to answer an HTTP request; event streams are left out.',
    labels: { route: 'open' },
    buckets: requestTimes,
    services: doors,
  },
  dormouse_event_streams: {
    kind: 'gauge',
    help: 'Event streams that clients have open.',
    labels: {},
    services: ['ingress-gateway'],
  },
  dormouse_event_stream_lag_seconds: {
    kind: 'histogram',
    help: 'Time from the commit of an event until it is written to a stream that was open then.',
    labels: {},
    buckets: requestTimes,
    services: ['ingress-gateway'],
  },
  dormouse_event_streams_lagged_total: {
    kind: 'counter',
    help: 'Event streams that ended with `lagged`, because their readers were too slow.',
    labels: {},
    services: ['ingress-gateway'],
  },
  dormouse_webhook_deliveries_total: {
    kind: 'counter',
    help: 'Deliveries to endpoints of customers that have ended. One that is sent again ends again.',
    labels: { outcome: webhookOutcomes },
    services: ['notifier'],
  },
  dormouse_retention_threads_total: {
    kind: 'counter',
    help: 'Threads that were removed at the end of their retention.',
    labels: {},
    services: ['ingress-gateway'],
  },
  dormouse_retention_bytes_total: {
    kind: 'counter',
    help: 'Bytes of logs and blobs that were removed with threads, as the quota stored_bytes_max counts them.',
    labels: {},
    services: ['ingress-gateway'],
  },
  dormouse_spans_dropped_total: {
    kind: 'counter',
    help: 'Spans that were not exported, because there were too many or the exporter failed.',
    labels: {},
    services: everyService,
  },
  dormouse_event_loop_delay_seconds: {
    kind: 'gauge',
    help: 'Delay of the event loop: its 99th percentile over the last 10 to 20 seconds.',
    labels: {},
    services: everyService,
  },
  dormouse_disk_free_bytes: {
    kind: 'gauge',
    help: 'Free space for this process on the disk of its data directory, or of its working directory.',
    labels: {},
    services: everyService,
  },
  dormouse_data_directory_bytes: {
    kind: 'gauge',
    help: 'Bytes in use of the data directory of one process; pages of the database that are free for reuse are not in it.',
    labels: {},
    services: ['ingress-gateway'],
  },
  dormouse_data_directory_warn_bytes: {
    kind: 'gauge',
    help: 'What DORMOUSE_DATA_DIR_WARN_BYTES says; 0 where it is not set.',
    labels: {},
    services: ['ingress-gateway'],
  },
  nodejs_gc_duration_seconds: {
    kind: 'histogram',
    help: 'Time of each garbage collection.',
    labels: { kind: ['major', 'minor', 'incremental', 'weakcb'] },
    buckets: shortTimes,
    services: everyService,
  },
  process_resident_memory_bytes: {
    kind: 'gauge',
    help: 'Memory of the process that is resident.',
    labels: {},
    services: everyService,
  },
  'gen_ai.client.operation.duration': {
    kind: 'histogram',
    help: 'Time of one attempt at a completion.',
    unit: 's',
    labels: { ...genAiModel, 'error.type': 'optional' },
    buckets: modelTimes,
    services: processor,
  },
  'gen_ai.client.operation.time_to_first_chunk': {
    kind: 'histogram',
    help: 'Time from the beginning of an attempt to the first part of its answer.',
    unit: 's',
    labels: genAiModel,
    buckets: modelTimes,
    services: processor,
  },
  'gen_ai.client.inference.usage.input_tokens': {
    kind: 'counter',
    help: 'Input tokens, as the provider counts them.',
    unit: '{token}',
    labels: { ...genAiModel, 'gen_ai.token.modality': ['unknown'] },
    services: processor,
  },
  'gen_ai.client.inference.usage.output_tokens': {
    kind: 'counter',
    help: 'Output tokens, as the provider counts them.',
    unit: '{token}',
    labels: { ...genAiModel, 'gen_ai.token.modality': ['unknown'] },
    services: processor,
  },
  'gen_ai.client.token.usage': {
    kind: 'histogram',
    help: 'Tokens of one attempt; the older name of the usage.',
    unit: '{token}',
    labels: { ...genAiModel, 'gen_ai.token.type': ['input', 'output'] },
    buckets: tokenCounts,
    services: processor,
    isOldGenAi: true,
  },
  'gen_ai.execute_tool.duration': {
    kind: 'histogram',
    help: 'Time from the request of a tool call to its outcome.',
    unit: 's',
    labels: { 'gen_ai.operation.name': ['execute_tool'], 'gen_ai.tool.name': 'open', 'error.type': 'optional' },
    buckets: waitTimes,
    services: processor,
  },
} as const satisfies Readonly<Record<string, MetricDescription>>;

type Table = typeof metricTable;
type NameOf<Kind extends MetricDescription['kind']> = {
  [Name in keyof Table]: Table[Name] extends { readonly kind: Kind } ? Name : never;
}[keyof Table];

export type MetricName = keyof Table;
export type CounterName = NameOf<'counter'>;
export type HistogramName = NameOf<'histogram'>;
export type GaugeName = NameOf<'gauge'>;

export const metricNames = Object.keys(metricTable) as MetricName[];

/** The description without its literal types. */
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
