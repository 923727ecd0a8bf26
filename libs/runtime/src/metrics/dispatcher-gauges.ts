// Gauges of the dispatcher's state, read whenever metrics are read.
//
// Invariant:
//   G1. A tool server is shown as long as the dispatcher has a call or a gate for it; a state without a gate is 0.
import type { BreakerState, Metrics } from '@dormouse/ports';

export interface DispatcherState {
  readonly breakers: () => readonly (readonly [toolServer: string, state: BreakerState])[];
  /** Tool server and age of each call that is not acknowledged. */
  readonly openCalls: () => Iterable<readonly [toolServer: string, ageMs: number]>;
}

const states: readonly BreakerState[] = ['closed', 'open', 'half_open'];

export function observeDispatcher(metrics: Metrics, { breakers, openCalls }: DispatcherState): void {
  metrics.gauge('dormouse_tool_breaker', (report) => {
    const all = breakers();
    for (const toolServer of new Set(all.map(([name]) => name)))
      for (const state of states)
        report(all.filter(([name, is]) => name === toolServer && is === state).length, toolServer, state); // (G1)
  });
  metrics.gauge('dormouse_tool_oldest_call_seconds', (report) => {
    const oldest = new Map<string, number>();
    for (const [toolServer, ageMs] of openCalls()) oldest.set(toolServer, Math.max(ageMs, oldest.get(toolServer) ?? 0));
    for (const [toolServer, ageMs] of oldest) report(ageMs / 1_000, toolServer);
  });
}
