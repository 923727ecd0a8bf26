// An operator who pauses agents and tool servers at random, and lets them go on. Drawn apart from everything else, so
// that a universe without pauses stays the same.
import type { TenantId } from '@dormouse/ports';
import type { Ingress } from '@dormouse/runtime';
import { faultsEndMs } from './fault-mix.ts';
import type { Random } from '../world/random.ts';
import type { Rig } from '../world/universe-rig.ts';

export interface Pauses {
  /** Starts the operator. */
  start(): void;
  /** What is paused still, and the threads that are held. */
  unrest(): readonly string[];
}

export const noPauses: Pauses = { start: () => {}, unrest: () => [] };

/** Longer than any request is on its way. */
const quietLooks = 10;

export interface PausesDeps extends Pick<Rig, 'scheduler' | 'clock' | 'world' | 'counted'> {
  readonly random: Random;
  /** Runs against some living ingress; null when no answer came. */
  readonly ask: <T>(request: (ingress: Ingress) => Promise<T>) => Promise<T | null>;
}

interface Target {
  readonly what: 'agent' | 'tool server';
  readonly tenant: TenantId;
  readonly name: string;
}

export function createPauses({ random, scheduler, clock, world, counted, ask }: PausesDeps): Pauses {
  const { registry } = world.durable;
  const paused = new Set<Target>();
  let isAtWork = false;

  const targets = (): readonly Target[] => [
    ...registry.agents.map(({ tenant, name }) => ({ what: 'agent', tenant, name }) as const),
    ...[...registry.toolServers.values()].map(({ tenant, name }) => ({ what: 'tool server', tenant, name }) as const),
  ];

  const isPaused = ({ what, tenant, name }: Target): boolean =>
    what === 'agent'
      ? registry.pausedAgents.get(tenant)?.has(name) === true
      : registry.toolServers.get(`${tenant}:${name}`)?.paused === true;

  async function set({ what, tenant, name }: Target, isPaused: boolean): Promise<boolean> {
    const answer = await ask<unknown>((ingress) =>
      what === 'agent'
        ? ingress.agents.setPaused(tenant, name, isPaused)
        : ingress.toolServers.patch(tenant, name, { paused: isPaused }),
    );
    return answer !== null;
  }

  async function pause(all: readonly Target[]): Promise<void> {
    const target = random.pick(all);
    paused.add(target); // also where no answer came: it may have been done
    if (await set(target, true)) counted(`${target.what} paused`);
  }

  async function resume(target: Target): Promise<void> {
    if (await set(target, false)) paused.delete(target);
  }

  async function operate(): Promise<void> {
    isAtWork = true;
    const all = targets();
    while (scheduler.now < faultsEndMs) {
      await clock.sleep(100 + random.below(1_200));
      const [oldest] = paused;
      if (oldest !== undefined && random.chance(0.6)) await resume(oldest);
      else await pause(all);
    }
    // A request that was given up may be carried out later: the operator looks until nothing is paused, and once more.
    for (let quiet = 0; quiet < quietLooks; quiet += 1) {
      for (const target of targets().filter(isPaused)) {
        quiet = 0;
        await set(target, false);
      }
      await clock.sleep(1_000);
    }
    isAtWork = false;
  }

  return {
    start: () => void operate(),
    unrest: () => [
      ...(isAtWork ? ['the operator is at work'] : []),
      ...targets()
        .filter(isPaused)
        .map(({ what, name }) => `${what} ${name} is paused`),
      ...[...registry.held.threads.values()].map(({ thread, by }) => `${thread} is held by ${by}`),
    ],
  };
}
