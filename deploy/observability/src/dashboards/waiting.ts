// What an operator sees on the dashboard of this name. It owns titles and queries; panel.ts says what a panel is.
import { type DashboardDescription, panel } from '../panel.ts';
import { largest, perSecond, quantile, total } from '../promql.ts';

export const waiting: DashboardDescription = {
  name: 'waiting',
  title: 'Dormouse: subscriptions, timers and parked threads',
  description: 'Threads that sleep, what wakes them, and what does not.',
  rows: [
    {
      title: 'Threads',
      panels: [
        panel('Threads by status', 'short', 'As lists show them.', [
          [total('dormouse_threads', 'status'), '{{status}}'],
        ]),
        panel('Oldest wait by kind', 's', 'Age of the oldest wait.', [
          [largest('dormouse_oldest_wait_seconds', 'kind'), '{{kind}}'],
        ]),
        panel('Parked threads', 'short', 'They wait for an operator: `dormouse parked`.', [
          [total('dormouse_parked_threads'), 'parked'],
        ]),
      ],
    },
    {
      title: 'Timers',
      panels: [
        panel('Timers that are due', 'short', 'By process.', [
          [total('dormouse_timers_due', 'instance'), '{{instance}}'],
        ]),
        panel('Lateness of timers', 's', 'From the due time to the firing.', [
          [quantile(0.5, 'dormouse_timer_late_seconds_bucket'), 'median'],
          [quantile(0.95, 'dormouse_timer_late_seconds_bucket'), '95 %'],
        ]),
        panel('Timers that fired', 'ops', 'As inputs of their threads.', [
          [perSecond('dormouse_inputs_total{kind="TimerFiring"}'), 'fired'],
        ]),
      ],
    },
    {
      title: 'Subscriptions and families',
      panels: [
        panel('Open subscriptions', 'short', 'Of all threads.', [[total('dormouse_subscriptions'), 'open']]),
        panel('Events of subscriptions', 'ops', 'As inputs of their threads.', [
          [perSecond('dormouse_inputs_total{kind="SubscriptionEvent"}'), 'events'],
        ]),
        panel('Reports and mail of families', 'ops', 'Reports of children, and messages of parents.', [
          [perSecond('dormouse_inputs_total{kind=~"ChildReport|ParentMessage"}', 'kind'), '{{kind}}'],
        ]),
      ],
    },
  ],
};
