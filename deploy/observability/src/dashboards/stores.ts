// The dashboards of Kafka, and of lanes and stores. They own titles and queries; panel.ts says what a panel is.
import { type DashboardDescription, panel } from '../panel.ts';
import { largest, perSecond, quantile, total } from '../promql.ts';

export const kafka: DashboardDescription = {
  name: 'kafka',
  title: 'Dormouse: Kafka',
  description: 'Lag, owners of partitions, and what moves when they change.',
  rows: [
    {
      title: 'Consumers',
      panels: [
        panel('Lag by topic', 'short', 'Records from the committed one to the end of the log.', [
          [total('dormouse_consumer_lag', 'topic'), '{{topic}}'],
        ]),
        panel(
          'Lag by partition of inputs',
          'short',
          'One partition above all others: one thread or one process is slow.',
          [[largest('dormouse_consumer_lag{topic="inputs"}', 'partition'), '{{partition}}']],
        ),
        panel('Oldest input by partition', 's', 'Age of the oldest input that is not finished.', [
          [largest('dormouse_oldest_unreleased_seconds', 'partition'), '{{partition}}'],
        ]),
        panel('Inputs by kind', 'ops', 'Inputs that were delivered, redeliveries too.', [
          [perSecond('dormouse_inputs_total', 'kind'), '{{kind}}'],
        ]),
        panel('Time to produce', 's', 'The 95th percentile of a round trip to Kafka, by operation.', [
          [quantile(0.95, 'dormouse_store_duration_seconds_bucket{store="kafka"}', 'operation'), '{{operation}}'],
        ]),
        panel('Produced by service', 'ops', 'Round trips to Kafka.', [
          [perSecond('dormouse_store_duration_seconds_count{store="kafka"}', 'job'), '{{job}}'],
        ]),
      ],
    },
    {
      title: 'Owners',
      panels: [
        panel('Takeovers', 'ops', 'Partitions of inputs that were assigned.', [
          [perSecond('dormouse_takeovers_total', 'instance'), '{{instance}}'],
        ]),
        panel('Rebalances', 'ops', 'Assignments that ended before the process stopped.', [
          [perSecond('dormouse_rebalances_total', 'instance'), '{{instance}}'],
        ]),
        panel('Redeliveries', 'ops', 'Inputs that an earlier owner had, and recoveries.', [
          [perSecond('dormouse_redeliveries_total', 'instance'), '{{instance}}'],
        ]),
      ],
    },
  ],
};

export const lanes: DashboardDescription = {
  name: 'lanes',
  title: 'Dormouse: lanes and stores',
  description: 'The way of an input through a lane, and the round trips to the stores.',
  rows: [
    {
      title: 'Lanes',
      panels: [
        panel('Lanes', 'short', 'Threads with a lane in memory.', [
          [total('dormouse_lanes', 'instance'), '{{instance}}'],
        ]),
        panel('Inputs in flight', 'short', 'Delivered and not finished.', [
          [total('dormouse_inputs_in_flight', 'instance'), '{{instance}}'],
        ]),
        panel('Time to decide', 's', 'One input; the 95th percentile.', [
          [quantile(0.95, 'dormouse_decide_duration_seconds_bucket'), '95 %'],
        ]),
        panel('Time to append', 's', 'Until a group of commits has its outcomes.', [
          [quantile(0.5, 'dormouse_append_duration_seconds_bucket'), 'median'],
          [quantile(0.95, 'dormouse_append_duration_seconds_bucket'), '95 %'],
        ]),
        panel('Time to pay', 's', 'Until what a list of commits owes is handed over.', [
          [quantile(0.5, 'dormouse_payment_duration_seconds_bucket'), 'median'],
          [quantile(0.95, 'dormouse_payment_duration_seconds_bucket'), '95 %'],
        ]),
        panel(
          'Conflicts and duplicates',
          'ops',
          'Commits whose version was taken, and inputs that were decided before.',
          [
            [perSecond('dormouse_append_conflicts_total'), 'conflicts'],
            [perSecond('dormouse_duplicates_total'), 'duplicates'],
          ],
        ),
      ],
    },
    {
      title: 'Stores',
      panels: [
        panel('Round trips', 'ops', 'By store and operation.', [
          [perSecond('dormouse_store_duration_seconds_count', 'store', 'operation'), '{{store}} {{operation}}'],
        ]),
        panel('Time of a round trip', 's', 'The 95th percentile, by store and operation.', [
          [quantile(0.95, 'dormouse_store_duration_seconds_bucket', 'store', 'operation'), '{{store}} {{operation}}'],
        ]),
        panel('Time of a round trip, ten minutes', 's', 'What the alert on slow stores compares.', [
          ['dormouse:store_duration_seconds:p95_10m', '{{store}} {{operation}}'],
        ]),
      ],
    },
  ],
};
