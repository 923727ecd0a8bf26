// A deliberately broken variant of the protocol. It replaces rules through the processor's seam, or wraps parts of a
// process or the world; everything else is the product itself.
import type { MemoryPorts, MemoryWorld } from '@dormouse/adapter-memory';
import type { Clock, Model, ToolTransport } from '@dormouse/ports';
import type { ProcessorProtocol } from '@dormouse/runtime';
import type { FaultMix } from './faults/fault-mix.ts';
import type { Random } from './world/random.ts';

export interface MutantContext {
  readonly node: string;
  readonly clock: Clock;
  readonly ports: MemoryPorts;
  readonly world: MemoryWorld;
  readonly random: Random;
}

export interface Mutant {
  /** What is broken, in words. */
  readonly breaks: string;
  /** Why it does no harm; absent for a mutant that must be caught. */
  readonly harmlessBecause?: string;
  /** Faults that make the interleaving it needs frequent: a directed search. */
  readonly faults?: Partial<FaultMix>;
  /** The number of seeds within which it is caught, where more than usual are needed. */
  readonly seedsMax?: number;
  /** The topology of the search; default durable. */
  readonly topology?: 'durable' | 'standalone';
  readonly protocol?: (context: MutantContext) => Partial<ProcessorProtocol>;
  readonly ports?: (context: MutantContext) => MemoryPorts;
  readonly transport?: (transport: ToolTransport, context: MutantContext) => ToolTransport;
  readonly model?: (model: Model, context: MutantContext) => Model;
  /** Breaks the stores themselves, once. */
  readonly world?: (world: MemoryWorld) => void;
}

export const soundInstallation: Mutant = { breaks: 'nothing' };
