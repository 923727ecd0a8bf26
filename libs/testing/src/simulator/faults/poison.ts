// Inputs that the code cannot decide until it is repaired, and the operator who replays their threads. The poisoned
// inputs are drawn apart from everything else, so that a universe without poison stays the same.
import type { ThreadKey } from '@dormouse/ports';
import { type Ingress, type ProcessorProtocol, soundProtocol } from '@dormouse/runtime';
import { faultsEndMs } from './fault-mix.ts';
import type { Random } from '../world/random.ts';
import type { Rig } from '../world/universe-rig.ts';

export interface Poison {
  /** The rules of a processor, which throw for poison. */
  in(rules: Partial<ProcessorProtocol>): Partial<ProcessorProtocol>;
  /** Whether a log line is about poison, and therefore expected. */
  explains(event: string): boolean;
  /** Starts the operator. */
  start(): void;
  /** Threads that are parked or not replayed to the end. */
  unrest(): readonly string[];
}

export const noPoison: Poison = { in: (rules) => rules, explains: () => false, start: () => {}, unrest: () => [] };

export interface PoisonDeps extends Pick<Rig, 'scheduler' | 'clock' | 'world' | 'observation' | 'counted'> {
  readonly random: Random;
  /** Of an input, to be poison. */
  readonly probability: number;
  /** Runs against some living ingress; null when no answer came. */
  readonly ask: <T>(request: (ingress: Ingress) => Promise<T>) => Promise<T | null>;
}

export function createPoison(deps: PoisonDeps): Poison {
  const { random, probability, scheduler, clock, world, observation, counted, ask } = deps;
  const drawn = new Map<string, boolean>();
  const mendedAt = random.below(faultsEndMs);
  const { parked } = world.durable;

  function isPoison(inputId: string): boolean {
    const known = drawn.get(inputId) ?? random.chance(probability);
    drawn.set(inputId, known);
    return known && scheduler.now < mendedAt;
  }

  /** An impatient operator: replays before the code is repaired, too. */
  async function operate(): Promise<void> {
    for (;;) {
      await clock.sleep(100 + random.below(2_500));
      for (const { mark, tenant, thread } of [...parked.threads.values()])
        if (mark === 'parked') await replay({ tenant, thread });
    }
  }

  async function replay(key: ThreadKey): Promise<void> {
    const answer = await ask((ingress) => ingress.parked.replay(key));
    counted(answer === null ? 'replay not answered' : 'thread replayed');
  }

  return {
    in: (rules) => ({
      ...rules,
      decide: (thread, input, moment) => {
        if (isPoison(input.id)) throw new Error(`${input.id} is poison`);
        return (rules.decide ?? soundProtocol.decide)(thread, input, moment);
      },
      confirmRefusal: async (log, key, position, inputId) => {
        const confirmRefusal = rules.confirmRefusal ?? soundProtocol.confirmRefusal;
        const confirmation = await confirmRefusal(log, key, position, inputId);
        const isReplayed = parked.inputs.get(`${key.tenant}:${key.thread}`)?.has(inputId) === true;
        if (isReplayed && confirmation.refusal === 'final') observation.refusedInReplay(key, inputId);
        return confirmation;
      },
    }),
    explains: (event) => event === 'thread_parked' || event === 'thread_poisoned',
    start: () => void operate(),
    unrest: () => [...parked.threads.values()].map(({ thread, mark }) => `${thread} is marked ${mark}`),
  };
}
