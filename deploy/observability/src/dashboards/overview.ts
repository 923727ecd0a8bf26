// What an operator sees on the dashboard of this name. It owns titles and queries; panel.ts says what a panel is.
import { type DashboardDescription, panel } from '../panel.ts';
import { largest, perSecond, quantile, total } from '../promql.ts';

export const overview: DashboardDescription = {
  name: 'overview',
  title: 'Dormouse: overview',
  description: 'The golden signals, and whether a thread, a call or an input waits too long.',
  rows: [
    {
      title: 'Does anything wait too long?',
      panels: [
        panel(
          'Oldest wait of threads',
          's',
          'Age of the oldest wait by what it is for. A person or a timer may take days.',
          [[largest('dormouse_oldest_wait_seconds', 'kind'), '{{kind}}']],
        ),
        panel('Oldest input', 's', 'Age of the oldest input that was delivered and is not finished.', [
          [largest('dormouse_oldest_unreleased_seconds'), 'oldest input'],
        ]),
        panel('Oldest open call', 's', 'Age of the oldest call that its tool server owes an answer.', [
          [largest('dormouse_tool_oldest_call_seconds', 'tool_server'), '{{tool_server}}'],
        ]),
        panel('Parked threads', 'short', 'Threads that wait for an operator. Any is work for one.', [
          [total('dormouse_parked_threads'), 'parked'],
        ]),
        panel('Timers that are due', 'short', 'Timers whose time has come and that have not fired.', [
          [total('dormouse_timers_due'), 'due'],
        ]),
        panel('Consumer lag', 'short', 'Records that are not finished, by topic.', [
          [total('dormouse_consumer_lag', 'topic'), '{{topic}}'],
        ]),
      ],
    },
    {
      title: 'Traffic and latency',
      panels: [
        panel('Turns', 'ops', 'Turns that ended, by outcome.', [
          [perSecond('dormouse_turns_total', 'outcome'), '{{outcome}}'],
        ]),
        panel('Time of a turn', 's', 'From the commit that begins a turn to the commit that ends it.', [
          [quantile(0.5, 'dormouse_turn_duration_seconds_bucket'), 'median'],
          [quantile(0.95, 'dormouse_turn_duration_seconds_bucket'), '95 %'],
        ]),
        panel('Time of an input in its topic', 's', 'From the publication of an input until it is decided.', [
          [quantile(0.5, 'dormouse_input_wait_seconds_bucket'), 'median'],
          [quantile(0.95, 'dormouse_input_wait_seconds_bucket'), '95 %'],
        ]),
        panel('HTTP requests', 'ops', 'Requests that were answered, by status.', [
          [perSecond('dormouse_http_requests_total', 'status'), '{{status}}'],
        ]),
        panel(
          'Time of HTTP requests',
          's',
          'The 95th percentile of the answers of each service; event streams are left out.',
          [[quantile(0.95, 'dormouse_http_duration_seconds_bucket', 'job'), '{{job}}']],
        ),
        panel('Event streams', 'short', 'Streams that clients have open.', [[total('dormouse_event_streams'), 'open']]),
      ],
    },
    {
      title: 'Errors',
      panels: [
        panel('Failed requests and turns', 'percentunit', 'Shares of the last ten minutes.', [
          ['dormouse:http_requests:failed_share10m', 'requests with 5xx'],
          ['dormouse:turns:failed_share10m', 'turns that failed'],
        ]),
        panel('Refusals', 'ops', 'Messages and requests that a thread refused, by code.', [
          [perSecond('dormouse_refusals_total', 'code'), '{{code}}'],
        ]),
        panel('Retries', 'ops', 'Tries after the first, of tool calls and of completions.', [
          [perSecond('dormouse_retries_total', 'class'), '{{class}}'],
        ]),
      ],
    },
    {
      title: 'Saturation',
      panels: [
        panel('Processes that answer a scrape', 'short', '1 for each process that Prometheus could read.', [
          ['up', '{{job}} {{instance}}'],
        ]),
        panel('Delay of the event loop', 's', 'The 99th percentile of the last seconds.', [
          [largest('dormouse_event_loop_delay_seconds', 'job', 'instance'), '{{job}} {{instance}}'],
        ]),
        panel('Resident memory', 'bytes', 'Memory of each process.', [
          [largest('process_resident_memory_bytes', 'job', 'instance'), '{{job}} {{instance}}'],
        ]),
        panel('Garbage collection', 'percentunit', 'Share of the time that a process collects garbage.', [
          [perSecond('nodejs_gc_duration_seconds_sum', 'job'), '{{job}}'],
        ]),
        panel('Free disk', 'bytes', 'Free space on the disk of the data directory, or of the working directory.', [
          [`min by (job, instance) (dormouse_disk_free_bytes)`, '{{job}} {{instance}}'],
        ]),
        panel('Spans that were not exported', 'ops', 'Above 0, traces have gaps.', [
          [perSecond('dormouse_spans_dropped_total', 'job'), '{{job}}'],
        ]),
      ],
    },
  ],
};
