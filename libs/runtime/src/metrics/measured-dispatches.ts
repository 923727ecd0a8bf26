// Times how long a debt waits for its payment by the dispatcher, and counts the tries after the first of a call.
import type { Attempt, Clock, DispatchLedger, Metrics, WorkBus } from '@dormouse/ports';

/** `clock`: the one that commits are dated by. */
export function measuredDispatches(work: WorkBus, metrics: Metrics, clock: Pick<Clock, 'now'>): WorkBus {
  const times = metrics.histogram('dormouse_dispatch_duration_seconds');
  return {
    publish: (topic, message) => work.publish(topic, message),
    consume: (topic, handle, shares) =>
      work.consume(
        topic,
        async (message, place) => {
          await handle(message, place);
          times.record((clock.now() - message.at) / 1_000);
        },
        shares,
      ),
  };
}

/** An attempt is in the ledger before it is repeated. */
export function measuredLedger(ledger: DispatchLedger, metrics: Metrics): DispatchLedger {
  const retries = metrics.counter('dormouse_retries_total', 'tool');
  const count = ({ number }: Attempt): void => {
    if (number > 1) retries.add(1);
  };
  return {
    ...ledger,
    settle: (key, subject, outcome, detail, attempt) => {
      if (attempt !== undefined) count(attempt);
      return ledger.settle(key, subject, outcome, detail, attempt);
    },
    record: (key, attempt) => {
      count(attempt);
      return ledger.record(key, attempt);
    },
  };
}
