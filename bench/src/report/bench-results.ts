// All results of one run of the bench; the content of bench/results/latest.json.
import type { ClusterResult } from '../cluster/measure-cluster.ts';
import type { CountsResult } from '../exact-counts.ts';
import type { GrowingResult } from '../growing-thread.ts';
import type { Machine } from '../machine.ts';
import type { ObservabilityResult } from '../observability.ts';
import type { TurnsMeasurement } from '../one-tool-turns.ts';
import type { SleepersResult } from '../sleepers.ts';

export interface BenchResults {
  readonly machine: Machine;
  readonly quick: boolean;
  readonly tookSeconds: number;
  readonly contestants: readonly { readonly name: string; readonly is: string; readonly durable: string }[];
  readonly turns: readonly TurnsMeasurement[] | null;
  readonly counts: CountsResult | null;
  readonly growing: GrowingResult | null;
  readonly sleepers: SleepersResult | null;
  readonly cluster: ClusterResult | null;
  readonly observability: ObservabilityResult | null;
}
