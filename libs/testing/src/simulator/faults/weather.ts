// What happens to an installation from outside: sessions that expire, zombies, rebalances, outages, rollouts, wiped
// caches, and the end of all that.
import { noFaults } from './fault-mix.ts';
import type { Installation } from '../world/installation.ts';
import type { Process } from '../world/scheduler.ts';
import type { Rig } from '../world/universe-rig.ts';

export interface Weather {
  /** One round: each fault of the mix may strike. */
  strike(): void;
  /** Faults stop. */
  heal(): void;
  /** A process is gone: its session expires, its supervisor starts it again. */
  bury(process: Process): void;
  missHeartbeats(process: Process): void;
}

const stopWithinMs = 15_000;

export function createWeather(
  { random, scheduler, clock, world, observation, trace, counted }: Rig,
  installation: () => Installation,
): Weather {
  function bury(process: Process): void {
    const { node } = process;
    world.durable.broker.forget(node);
    scheduler.after(random.below(500), `session of ${node} expires`, () => world.durable.broker.expire(node));
    scheduler.after(100 + random.below(1_500), `${process.name} restarts`, () => installation().restart(process));
  }

  function missHeartbeats(process: Process): void {
    const { node } = process;
    scheduler.after(500, `session of ${node} may expire`, () => {
      if (process.node === node && process.pausedUntil > scheduler.now) world.durable.broker.expire(node);
    });
  }

  function strike(): void {
    const mix = scheduler.faults;
    const { broker, snapshots, dedup } = world.durable;
    if (random.chance(mix.wipeSnapshots)) {
      snapshots.clear();
      observation.wiped('snapshots');
    }
    if (random.chance(mix.wipeDedup)) {
      dedup.clear();
      observation.wiped('dedup');
    }
    if (random.chance(mix.outage)) {
      counted('outage');
      scheduler.outages[random.pick(['bus', 'store'] as const)] = scheduler.now + 200 + random.below(1_500);
    }
    if (random.chance(mix.rebalance)) {
      counted('rebalance');
      broker.rebalance(random.pick(['inputs', 'dispatches', 'notices']));
    }
    if (mix.move > 0 && random.chance(mix.move)) {
      counted('partition moved');
      broker.move(random.pick(['inputs', 'dispatches', 'notices']), random.below(2));
    }
    if (mix.countAnew > 0 && random.chance(mix.countAnew)) {
      counted('generations counted anew');
      broker.countAnew('inputs');
    }
    if (mix.tailLoss > 0 && random.chance(mix.tailLoss)) broker.loseTail('inputs', random.below(2), 3);
    if (random.chance(mix.clockJump)) {
      counted('clock jump');
      random.pick(installation().processes).skewMs += random.below(6_000) - 4_000;
    }
    if (random.chance(mix.cutOff)) cutOff(random.pick(installation().processes));
    if (random.chance(mix.restart)) void restartInOrder(random.pick(installation().processes));
  }

  function cutOff(process: Process): void {
    const { node, alive } = process;
    if (!alive) return;
    counted('zombie');
    trace.note(scheduler.now, node, () => 'CUT OFF');
    const { broker } = world.durable;
    broker.cutOff(node);
    scheduler.after(300, `session of ${node} expires`, () => broker.expire(node));
    scheduler.after(600 + random.below(5_000), `${node} reconnects`, () => broker.reconnect(node));
  }

  /** What an operator's rollout does: stop, drain, exit, start. */
  async function restartInOrder(process: Process): Promise<void> {
    const { node, alive } = process;
    if (!alive) return;
    counted('ordered restart');
    trace.note(scheduler.now, node, () => 'STOP');
    const stopping = installation().stop(process, 200 + random.below(2_500));
    const ended = await Promise.race([stopping.then(() => true), clock.sleep(stopWithinMs).then(() => false)]);
    if (process.node !== node || !process.alive) return; // it died over it
    if (!ended) observation.witness('I-24', `${node} did not stop within ${stopWithinMs} ms`);
    scheduler.exit(process);
    bury(process);
  }

  function heal(): void {
    scheduler.faults = noFaults;
    scheduler.outages.bus = 0;
    scheduler.outages.store = 0;
    trace.note(scheduler.now, '', () => 'FAULTS STOP');
    for (const process of installation().processes) {
      process.pausedUntil = Math.min(process.pausedUntil, scheduler.now);
      world.durable.broker.reconnect(process.node);
    }
  }

  return { strike, heal, bury, missHeartbeats };
}
