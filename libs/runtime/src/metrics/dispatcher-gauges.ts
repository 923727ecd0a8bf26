// Gauges of the dispatcher's state, read whenever metrics are read.
//
// Invariant:
//   G1. A tool server is shown as long as the dispatcher has a gate for it; a state without a gate is 0. All states
//       are there from the start.
import { type BreakerState, type Metrics, otherValue } from '@dormouse/ports';
import type { ServerGates } from '../tool-dispatcher/deliver/server-gate.ts';

const states: readonly BreakerState[] = ['closed', 'open', 'half_open'];

export function observeDispatcher(metrics: Metrics, breakers: ServerGates['states']): void {
  metrics.gauge('dormouse_tool_breaker', (report) => {
    const all = breakers();
    for (const state of states) report(0, otherValue, state); // (G1)
    for (const toolServer of new Set(all.map(([name]) => name)))
      for (const state of states)
        report(all.filter(([name, is]) => name === toolServer && is === state).length, toolServer, state); // (G1)
  });
}
