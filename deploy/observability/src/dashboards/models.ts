// What an operator sees on the dashboard of this name. It owns titles and queries; panel.ts says what a panel is.
import { type DashboardDescription, panel } from '../panel.ts';
import { perSecond, quantile, total } from '../promql.ts';

const attempts = 'gen_ai_client_operation_duration_seconds';
const model = ['gen_ai_provider_name', 'gen_ai_request_model'] as const;
const legend = '{{gen_ai_provider_name}} {{gen_ai_request_model}}';

export const models: DashboardDescription = {
  name: 'models',
  title: 'Dormouse: models and tokens',
  description: 'Completions, their attempts, their time, and the tokens that providers count.',
  rows: [
    {
      title: 'Completions',
      panels: [
        panel('Completions', 'ops', 'With all their attempts, by outcome.', [
          [
            perSecond('dormouse_completions_total', 'provider', 'model', 'outcome'),
            '{{provider}} {{model}} {{outcome}}',
          ],
        ]),
        panel('Share of failed completions', 'percentunit', 'In the last ten minutes.', [
          ['dormouse:completions:failed_share10m', '{{provider}} {{model}}'],
        ]),
        panel('Slots', 'short', 'Completions that have a slot, and those that wait for one.', [
          [total('dormouse_completion_slots', 'state'), '{{state}}'],
        ]),
      ],
    },
    {
      title: 'Attempts',
      panels: [
        panel('Time of an attempt', 's', 'The 95th percentile.', [
          [quantile(0.95, `${attempts}_bucket`, ...model), legend],
        ]),
        panel('Time to the first part', 's', 'The 95th percentile of the time until the answer begins.', [
          [quantile(0.95, 'gen_ai_client_operation_time_to_first_chunk_seconds_bucket', ...model), legend],
        ]),
        panel(
          'Failed attempts',
          'ops',
          'By kind of error. An attempt that fails is tried again, as retries show.',
          [
            [
              perSecond(`${attempts}_count{error_type!=""}`, 'gen_ai_request_model', 'error_type'),
              '{{gen_ai_request_model}} {{error_type}}',
            ],
          ],
          'a model that fails',
        ),
        panel('Retries', 'ops', 'Attempts after the first.', [
          [perSecond('dormouse_retries_total{class="model"}'), 'model'],
        ]),
      ],
    },
    {
      title: 'Tokens',
      panels: [
        panel('Input tokens', 'short', 'Per second, as the provider counts them.', [
          [perSecond('gen_ai_client_inference_usage_input_tokens_total', ...model), legend],
        ]),
        panel('Output tokens', 'short', 'Per second, as the provider counts them.', [
          [perSecond('gen_ai_client_inference_usage_output_tokens_total', ...model), legend],
        ]),
      ],
    },
  ],
};
