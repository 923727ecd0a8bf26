// What tenants get in a universe with a crowd: a loud tenant, whose quota may hold it back, and a quiet one with a
// weight of its own. And the completion slots of each process, watched from outside.
import type { MemoryPorts, MemoryWorld } from '@dormouse/adapter-memory';
import { type Clock, type Entropy, type Logger, newTenant } from '@dormouse/ports';
import {
  createTenantLimits,
  createTenantMeter,
  createTenantRecords,
  type ProcessorProtocol,
  type TenantLimits,
} from '@dormouse/runtime';
import type { SlotStep } from '../../invariants/history.ts';
import { tenants } from '../observation.ts';
import type { Random } from './random.ts';

export interface TenantShares {
  /** Slots of each process. */
  readonly slots: number;
  /** By tenant; null for one that a quota may hold back. */
  readonly weights: ReadonlyMap<string, number | null>;
}

export const [loudTenant, quietTenant] = tenants;

export function registerShares(world: MemoryWorld, random: Random): TenantShares {
  const completionsInFlightMax = random.pick([null, 1, 3]);
  const quiet = random.pick([1, 2, 3]);
  const { registry } = world.durable;
  const quotas = completionsInFlightMax === null ? {} : { completionsInFlightMax };
  registry.tenants.set(loudTenant, newTenant(loudTenant, 0, { quotas }));
  registry.tenants.set(quietTenant, newTenant(quietTenant, 0, { weight: quiet }));
  const loud = completionsInFlightMax === null ? 1 : null;
  return {
    slots: 2,
    weights: new Map([
      [loudTenant, loud],
      [quietTenant, quiet],
    ]),
  };
}

/** As a process has them. */
export function tenantLimitsOf(
  ports: MemoryPorts,
  deps: { readonly clock: Clock; readonly entropy: Entropy; readonly logger: Logger },
): TenantLimits {
  return createTenantLimits({
    records: createTenantRecords({ tenants: ports.tenants, clock: deps.clock }),
    meter: createTenantMeter({ tallies: ports.tenantTallies, ...deps }),
    directory: ports.directory,
    clock: deps.clock,
  });
}

/** The slots that `create` makes, each step noted. */
export function watchedSlots(
  create: ProcessorProtocol['createSlots'],
  note: (tenant: string, step: SlotStep['step']) => void,
): ProcessorProtocol['createSlots'] {
  return (...about) => {
    const slots = create(...about);
    const inner = new WeakMap<object, Parameters<typeof slots.wait>[0]>();
    return {
      take: (group) => {
        const isTaken = slots.take(group);
        if (isTaken) note(group.tenant, 'taken');
        return isTaken;
      },
      wait: (waiter) => {
        const { tenant, endpoint } = waiter;
        const serve = (): void => {
          note(tenant, 'served');
          waiter.serve();
        };
        const noted = { tenant, endpoint, serve };
        inner.set(waiter, noted);
        const waits = slots.wait(noted);
        if (waits) note(tenant, 'waits');
        return waits;
      },
      leave: (waiter) => {
        const noted = inner.get(waiter);
        const hasLeft = noted !== undefined && slots.leave(noted);
        if (hasLeft) note(waiter.tenant, 'left');
        return hasLeft;
      },
      give: (group) => {
        note(group.tenant, 'given');
        slots.give(group);
      },
      look: () => slots.look(),
      get waiting() {
        return slots.waiting;
      },
      get taken() {
        return slots.taken;
      },
    };
  };
}
