// Counts the deliveries of the topic `inputs`, times how long an input waits in it, and how late timers fire.
//
// Invariants:
//   I1. A delivery is passed on with its own callbacks; only where its time of publication is known does it get one
//       that measures.
//   I2. A firing that could not be published was none: it is tried again, and counts once, when it has succeeded.
import type { Assignment, Clock, Histogram, InputBus, InputConsumer, InputDelivery } from '@dormouse/ports';
import type { Measuring } from './measuring.ts';

/** `clock`: the one that timers are due by. */
export function measuredInputs(bus: InputBus, measuring: Measuring, clock: Pick<Clock, 'now'>): InputBus {
  const late = measuring.metrics.histogram('dormouse_timer_late_seconds');
  return {
    publish: (key, input, trace) => {
      const published = bus.publish(key, input, trace);
      if (input.kind !== 'TimerFiring') return published;
      const { scheduledFor } = input;
      return published.then(() => late.record((clock.now() - scheduledFor) / 1_000)); // (I2)
    },
    consume: (consumer) => bus.consume(measuredConsumer(consumer, measuring)),
  };
}

function measuredConsumer(consumer: InputConsumer, { metrics, now }: Measuring): InputConsumer {
  const waits = metrics.histogram('dormouse_input_wait_seconds');
  const redeliveries = metrics.counter('dormouse_redeliveries_total');
  const takeovers = metrics.counter('dormouse_takeovers_total');
  const rebalances = metrics.counter('dormouse_rebalances_total');
  let generation: Assignment['generation'] | null = null;
  return {
    ...consumer,
    assigned: (assignment) => {
      takeovers.add(1);
      if (generation !== null && assignment.generation !== generation) rebalances.add(1);
      generation = assignment.generation;
      consumer.assigned(assignment);
    },
    deliver: (assignment, delivery) => {
      if (delivery.what === 'recovery') {
        redeliveries.add(1);
        return consumer.deliver(assignment, delivery);
      }
      metrics.counter('dormouse_inputs_total', delivery.input.kind).add(1);
      if (delivery.isRedelivery === true) redeliveries.add(1);
      consumer.deliver(assignment, waiting(delivery, waits, now));
    },
  };
}

/** (I1) */
function waiting(delivery: InputDelivery, waits: Histogram, now: () => number): InputDelivery {
  const { publishedAt } = delivery;
  if (publishedAt === undefined) return delivery;
  const decided = (version: number | null): void => {
    waits.record((now() - publishedAt) / 1_000);
    delivery.decided(version);
  };
  return { ...delivery, decided };
}
