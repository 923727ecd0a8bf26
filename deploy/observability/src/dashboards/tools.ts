// What an operator sees on the dashboard of this name. It owns titles and queries; panel.ts says what a panel is.
import { type DashboardDescription, panel } from '../panel.ts';
import { largest, perSecond, quantile, total } from '../promql.ts';

export const tools: DashboardDescription = {
  name: 'tools',
  title: 'Dormouse: tool servers and tool calls',
  description: 'How tool servers take calls, how they answer, and which of them fails.',
  rows: [
    {
      title: 'Tool servers',
      panels: [
        panel('POSTs', 'ops', 'Calls, notices and answers of choices, by how each POST ended.', [
          [perSecond('dormouse_tool_attempts_total', 'tool_server', 'class'), '{{tool_server}} {{class}}'],
        ]),
        panel(
          'Share of failed POSTs',
          'percentunit',
          '5xx, not reached or without an answer, in the last ten minutes.',
          [['dormouse:tool_attempts:failed_share10m', '{{tool_server}}']],
        ),
        panel('Time to acknowledge', 's', 'The 95th percentile of the time until a tool server took a POST.', [
          [quantile(0.95, 'dormouse_tool_ack_seconds_bucket', 'tool_server'), '{{tool_server}}'],
        ]),
        panel(
          'Failed POSTs by class',
          'ops',
          'As the health of a tool server counts them; resets are refused or broken connections, 4xx has redirects.',
          [[perSecond('dormouse_tool_errors_total', 'tool_server', 'error'), '{{tool_server}} {{error}}']],
        ),
        panel(
          'Age of the last discovery',
          's',
          'Since a dispatcher fetched a valid manifest; a new family asks for it.',
          [[largest('dormouse_tool_discovery_age_seconds', 'tool_server'), '{{tool_server}}']],
        ),
        panel('Breakers', 'short', 'Gates by state, one per tenant. Open: the tool server gets single attempts.', [
          [total('dormouse_tool_breaker', 'tool_server', 'state'), '{{tool_server}} {{state}}'],
        ]),
        panel(
          'Oldest open call',
          's',
          'It was not acknowledged yet, or its callback has not come. Calls that wait for a person do not count.',
          [[largest('dormouse_tool_oldest_call_seconds', 'tool_server'), '{{tool_server}}']],
        ),
        panel('Retries of calls', 'ops', 'Tries after the first.', [
          [perSecond('dormouse_retries_total{class="tool"}'), 'tool'],
        ]),
      ],
    },
    {
      title: 'Tool calls',
      panels: [
        panel('Calls that were settled', 'ops', 'By outcome.', [
          [perSecond('dormouse_tool_calls_total', 'outcome'), '{{outcome}}'],
        ]),
        panel('Calls that were settled, by tool server', 'ops', '`runtime` settles built-in and unknown tools.', [
          [perSecond('dormouse_tool_calls_total', 'tool_server'), '{{tool_server}}'],
        ]),
        panel('Time from request to outcome', 's', 'Calls that wait for a person are in it.', [
          [quantile(0.5, 'dormouse_tool_wait_seconds_bucket', 'tool_server'), '{{tool_server}} median'],
          [quantile(0.95, 'dormouse_tool_wait_seconds_bucket', 'tool_server'), '{{tool_server}} 95 %'],
        ]),
        panel(
          'Time to call back',
          's',
          "From the request, or a person's last answer, to the result. No wait for a person.",
          [
            [quantile(0.5, 'dormouse_tool_callback_seconds_bucket', 'tool_server'), '{{tool_server}} median'],
            [quantile(0.99, 'dormouse_tool_callback_seconds_bucket', 'tool_server'), '{{tool_server}} 99 %'],
          ],
        ),
        panel('Time by tool', 's', 'The 95th percentile of the time from request to outcome.', [
          [quantile(0.95, 'gen_ai_execute_tool_duration_seconds_bucket', 'gen_ai_tool_name'), '{{gen_ai_tool_name}}'],
        ]),
        panel(
          'Failed calls by tool',
          'ops',
          'Calls that ended with an error, by tool and kind of error.',
          [
            [
              perSecond('gen_ai_execute_tool_duration_seconds_count{error_type!=""}', 'gen_ai_tool_name', 'error_type'),
              '{{gen_ai_tool_name}} {{error_type}}',
            ],
          ],
          'a call that fails',
        ),
        panel('Time to dispatch', 's', 'From the commit that owes a call until the dispatcher has paid it.', [
          [quantile(0.95, 'dormouse_dispatch_duration_seconds_bucket'), '95 %'],
        ]),
      ],
    },
    {
      title: 'Callbacks',
      panels: [
        panel('Callbacks', 'ops', 'By the status of the answer.', [
          [perSecond('dormouse_callbacks_total', 'status'), '{{status}}'],
        ]),
        panel('Share of refused callbacks', 'percentunit', '4xx in the last ten minutes.', [
          ['dormouse:callbacks:refused_share10m', 'refused'],
        ]),
        panel('Callbacks that came before', 'ops', 'Duplicates, by the kind of input.', [
          [perSecond('dormouse_duplicates_total{kind=~"ToolResult|SubscriptionEvent"}', 'kind'), '{{kind}}'],
        ]),
      ],
    },
  ],
};
