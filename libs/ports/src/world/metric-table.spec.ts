import { expect, it } from 'vitest';
import { describedMetric, metricNames, prometheusName } from './metric-table.ts';

/** Names that operators' own dashboards and alerts are written for: none of them goes, and none loses a label. */
const promised = `
  dormouse_turns_total{outcome} dormouse_turn_duration_seconds dormouse_inputs_total{kind} dormouse_input_wait_seconds
  dormouse_refusals_total{code} dormouse_duplicates_total{kind} dormouse_append_duration_seconds
  dormouse_append_conflicts_total dormouse_completions_total{provider,model,outcome} dormouse_completion_slots{state}
  dormouse_tool_calls_total{tool_server,outcome} dormouse_tool_attempts_total{tool_server,class}
  dormouse_tool_ack_seconds{tool_server} dormouse_tool_wait_seconds{tool_server} dormouse_tool_breaker{tool_server,state}
  dormouse_callbacks_total{status} dormouse_threads{status} dormouse_oldest_wait_seconds{kind} dormouse_subscriptions
  dormouse_timers_due dormouse_timer_late_seconds dormouse_parked_threads dormouse_consumer_lag{topic,partition}
  dormouse_oldest_unreleased_seconds{partition} dormouse_rebalances_total dormouse_store_duration_seconds{store,operation}
  dormouse_http_requests_total{route,status} dormouse_http_duration_seconds{route} dormouse_event_streams
  dormouse_event_loop_delay_seconds dormouse_spans_dropped_total dormouse_retries_total{class}
  dormouse_decide_duration_seconds dormouse_payment_duration_seconds dormouse_dispatch_duration_seconds
  dormouse_inputs_in_flight dormouse_lanes dormouse_redeliveries_total dormouse_takeovers_total
  dormouse_tool_oldest_call_seconds{tool_server} dormouse_disk_free_bytes nodejs_gc_duration_seconds{kind}
  process_resident_memory_bytes
`;
const ofConventions = [
  'gen_ai_client_inference_usage_input_tokens_total',
  'gen_ai_client_inference_usage_output_tokens_total',
  'gen_ai_client_operation_duration_seconds',
  'gen_ai_client_operation_time_to_first_chunk_seconds',
  'gen_ai_client_token_usage',
  'gen_ai_execute_tool_duration_seconds',
];

it('has every promised metric with its labels', () => {
  const exported = metricNames.map((name) => {
    const labels = Object.keys(describedMetric(name).labels).join();
    return name.includes('.') || labels === '' ? prometheusName(name) : `${name}{${labels}}`;
  });
  expect(exported).toEqual(expect.arrayContaining([...promised.trim().split(/\s+/), ...ofConventions]));
});

it('W2 has no label for an id, and none for a tenant', () => {
  const labels = new Set(metricNames.flatMap((name) => Object.keys(describedMetric(name).labels)));
  expect([...labels].filter((label) => /tenant|thread|call|user|agent/.test(label))).toEqual([]);
});
