// Times two of the steps of a slice, decide and pay, at the one place through which the processor calls them.
import type { ProcessorProtocol } from '../thread-processor/rules/protocol.ts';
import type { Measuring } from './measuring.ts';

export function measuredProtocol(protocol: ProcessorProtocol, { metrics, now }: Measuring): ProcessorProtocol {
  const deciding = metrics.histogram('dormouse_decide_duration_seconds');
  const paying = metrics.histogram('dormouse_payment_duration_seconds');
  return {
    ...protocol,
    decide: (thread, input, moment) => {
      const from = now();
      const decision = protocol.decide(thread, input, moment);
      deciding.record((now() - from) / 1_000);
      return decision;
    },
    pay: async (deps, debtor, bill) => {
      const from = now();
      await protocol.pay(deps, debtor, bill);
      paying.record((now() - from) / 1_000);
    },
  };
}
