// What all parts of a universe share: its chance, its time, its stores, and its observers.
import type { MemoryWorld } from '@dormouse/adapter-memory';
import type { Clock } from '@dormouse/ports';
import type { Observation } from '../observation.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';
import type { Topology } from './topology.ts';
import type { Trace } from '../trace.ts';

export interface Rig {
  readonly topology: Topology;
  readonly random: Random;
  readonly scheduler: Scheduler;
  /** True time, for clients, tools and the world itself: they never crash. */
  readonly clock: Clock;
  readonly world: MemoryWorld;
  readonly observation: Observation;
  readonly trace: Trace;
  /** A number that nothing else in the universe has. */
  readonly fresh: () => number;
  readonly counted: (path: string) => void;
}

export const threadsPerUniverse = 3;
