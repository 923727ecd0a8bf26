// What happens to the debts of what may not go on: of a tenant that is not active, of an agent that is paused, and to a
// tool server that is paused. They are not paid, and their thread is marked; once it may go on again, the thread's
// owner pays everything that its commits still owe.
//
// Everything that pays asks here first: the payment of a commit, a completion before each attempt, a call before each
// POST, a notice, a due timer.
//
// Invariants:
//   H1. The mark is durable before the debt is let go of: before a delivery is released, a message is handled, a timer
//       is dropped. What was let go of is found again by the mark, after a crash too.
//   H2. A mark is removed when the wake that was sent because of it has been released: what it led to is handled then.
//       A mark that was made again meanwhile stays. (ports/held-threads.ts L2)
//   H3. Paying again is harmless: same ids, same content. (payment P2)
//   H4. A tenant that is being deleted, or was, is never paid for: its marks go with its other rows.
//   H5. Of a paused agent no completion is asked for and no call is sent; its other debts are paid: what stops a thread
//       stops it at once. To a paused tool server nothing is sent.
//   H6. A tenant that is active again wakes its threads as fast as they are decided, and no faster than
//       `wakesPerLookMax` per look: its wakes fill no queue that others wait in. (tenant-limits)
import {
  type Stores,
  type Clock,
  type HeldGroup,
  type HeldThread,
  type HeldThreads,
  type InputBus,
  type Logger,
  repayWake,
  type ThreadDelivery,
  type ThreadDirectory,
  type ThreadKey,
} from '@dormouse/ports';
import { everyItemAfter } from '../every-item.ts';
import { createRepeatedService } from '../repeated-service.ts';
import { faultCode } from '../fault-code.ts';
import type { PausedAgents } from './paused-agents.ts';
import type { TenantLimits } from './tenant-limits.ts';
import type { TenantRecords } from './tenant-records.ts';

/** Null stands for it where nothing is ever suspended or paused. */
export interface Holding {
  /** True when the thread's tenant is not active; then the thread is marked, durably. (H1) @throws Fault */
  holds(key: ThreadKey): Promise<boolean>;
  /** The same, when its agent is paused; the agent's name is read where it is not given. (H5) @throws Fault */
  holdsAgent(key: ThreadKey, agent?: string): Promise<boolean>;
  /** Marks the thread, whose debt is to a tool server that is paused. (H5) @throws Fault */
  holdForServer(key: ThreadKey, toolServer: string): Promise<void>;
}

export interface HoldingPorts {
  readonly records: Pick<TenantRecords, 'isActive'>;
  readonly heldThreads: Pick<HeldThreads, 'hold'>;
  readonly pausedAgents: PausedAgents;
  readonly directory: Pick<ThreadDirectory, 'get'>;
}

export function createHolding({ records, heldThreads, pausedAgents, directory }: HoldingPorts): Holding {
  return {
    async holds({ tenant, thread }) {
      if (await records.isActive(tenant)) return false;
      await heldThreads.hold({ tenant, thread }, 'tenant');
      return true;
    },
    async holdsAgent({ tenant, thread }, agent) {
      const paused = await pausedAgents.of(tenant);
      if (paused.size === 0) return false;
      const name = agent ?? (await directory.get({ tenant, thread }))?.agent;
      if (name === undefined || !paused.has(name)) return false;
      await heldThreads.hold({ tenant, thread }, `agent:${name}`);
      return true;
    },
    holdForServer: ({ tenant, thread }, toolServer) =>
      heldThreads.hold({ tenant, thread }, `tool_server:${toolServer}`),
  };
}

export interface HeldWakes {
  start(): void;
  /** The delivery, which removes its mark when it is released; any other delivery as it is. (H2) */
  followed(delivery: ThreadDelivery): ThreadDelivery;
  stop(): Promise<void>;
}

export interface HeldWakesPorts extends Pick<Stores, 'agents' | 'toolServers' | 'heldThreads'> {
  readonly inputs: Pick<InputBus, 'publish'>;
  readonly records: Pick<TenantRecords, 'isActive'>;
  /** (H6) */
  readonly limits: Pick<TenantLimits, 'mayEnter'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const lookEveryMs = 1_000;
const threadsAtOnce = 100;
const wakesPerLookMax = 500;
/** A wake that has not removed its mark is sent again after this long: its owner may have died. */
const wakeAgainMs = 60_000;

/** Wakes the marked threads of what may go on again, whichever process owns them. */
export function createHeldWakes(deps: HeldWakesPorts): HeldWakes {
  const { records, agents, toolServers, heldThreads, inputs, limits, clock, logger } = deps;
  const stopped = new AbortController();
  /** When the wake of a mark was sent from here. */
  const sent = new Map<string, number>();
  let failing = false;

  /** Whether a wake was sent. */
  function wake(held: HeldThread): boolean {
    const { tenant, thread, mark } = held;
    const name = nameOf(held);
    const now = clock.now();
    if (now - (sent.get(name) ?? Number.NEGATIVE_INFINITY) < wakeAgainMs) return false;
    sent.set(name, now);
    // Each separately: the bus of one process answers when the thread has taken it.
    inputs.publish({ tenant, thread }, { ...repayWake(0), heldMark: mark }).catch((error: unknown) => {
      sent.delete(name); // the mark is still there: the next look sends it again
      report(error);
    });
    return true;
  }

  async function wakeAll(group: HeldGroup): Promise<void> {
    let woken = 0;
    const all = everyItemAfter<HeldThread>(threadsAtOnce, (after) =>
      heldThreads.list(group, after?.thread ?? null, threadsAtOnce),
    );
    for await (const held of all) {
      if (stopped.signal.aborted || woken >= wakesPerLookMax || !limits.mayEnter(group.tenant).ok) return; // (H6)
      if (wake(held)) woken += 1;
    }
  }

  async function mayGoOn({ tenant, by }: HeldGroup): Promise<boolean> {
    if (!(await records.isActive(tenant))) return false; // (H4)
    if (by === 'tenant') return true;
    const name = by.slice(by.indexOf(':') + 1);
    if (by.startsWith('agent:')) return !(await agents.paused(tenant)).includes(name);
    return (await toolServers.get(tenant, name))?.paused !== true;
  }

  async function look(): Promise<void> {
    for (const [name, at] of sent) if (clock.now() - at >= wakeAgainMs) sent.delete(name);
    for (const group of await heldThreads.groups())
      if (!stopped.signal.aborted && (await mayGoOn(group))) await wakeAll(group);
    failing = false;
  }

  function report(error: unknown): void {
    if (!failing && !stopped.signal.aborted) logger.warn('held_threads_failing', { code: faultCode(error) });
    failing = true;
  }

  const looking = createRepeatedService({ clock, stopped, everyMs: lookEveryMs }, () => look().catch(report));
  return {
    start: () => void looking.start(),
    stop: () => looking.stop(),
    followed: (delivery) => {
      if (delivery.what !== 'input' || delivery.input.kind !== 'ReplayWake') return delivery;
      const { tenant, thread, input, trace } = delivery;
      const { heldMark: mark } = delivery.input;
      if (mark === undefined) return delivery;
      return {
        ...{ what: 'input', tenant, thread, input, trace },
        decided: (version) => delivery.decided(version),
        isWithdrawn: () => delivery.isWithdrawn?.() === true,
        release: () => {
          delivery.release();
          sent.delete(nameOf({ tenant, thread, mark }));
          heldThreads.remove({ tenant, thread, mark }).catch(report); // (H2) it stays, and is sent again
        },
      };
    },
  };
}

const nameOf = ({ tenant, thread, mark }: HeldThread): string => `${tenant} ${thread} ${mark}`;
