// An upgrade under load: all services restarted one after the other, and two releases side by side, in both
// directions. Nothing is lost or doubled, and clients wait little longer than before.
import { afterAll, expect, it, type TestContext } from 'vitest';
import { type ChaosCluster, type Instance, root, serviceNames } from '../chaos/chaos-cluster.ts';
import { type FailoverReport, type FailoverOrder, runFailover } from '../failover/run-failover.ts';
import { ServerMissing } from '../services/service.ts';
import { type Build, buildOf } from './build-of.ts';
import { setTimeout as sleep } from 'node:timers/promises';

/** The release beside this one: the commit before, or another that the environment names. */
const before = process.env['DORMOUSE_TEST_BEFORE'] ?? 'HEAD~1';
const mixedMs = 15_000;
/** Thirty processes end and start one after the other, and another release is built before: on a busy machine. */
const bothReleasesWithinMs = 3_600_000;
const slowerMax = 3;
/** Below it, a ratio says more about the clock than about an upgrade. */
const p99FloorMs = 250;

let other: Build | null = null;
afterAll(() => {
  if (other?.available === true) other.remove();
});

async function survived(context: TestContext, order: FailoverOrder): Promise<FailoverReport> {
  const report = await runFailover(context.task.name, order).catch((error: unknown) => {
    context.skip(error instanceof ServerMissing, (error as Error).message);
    throw error;
  });
  expect(report.violations).toEqual([]);
  expect(report.found).toEqual({ lost: 0, doubled: 0, unended: 0 });
  expect(report.messages).toBeGreaterThan(200);
  expect([...report.logged.keys()]).not.toContain('thread_parked');
  return report;
}

/** One after the other, as a rolling update does: the next one when this one is ready. */
async function restarted(cluster: ChaosCluster, instances: readonly Instance[], builtIn: string): Promise<void> {
  for (const instance of instances) {
    await cluster.end(instance, 'SIGTERM');
    instance.root = builtIn;
    cluster.start(instance);
    await cluster.untilReady([instance]);
  }
}

it('I-01 I-03 I-05 I-07 I-10 I-24 a rolling restart of all services, two of each, under load: nothing lost, nothing doubled, and clients wait little longer', async (context) => {
  const { waits } = await survived(context, { act: (cluster) => restarted(cluster, cluster.instances, root) });
  const limit = slowerMax * Math.max(waits.before.p99 ?? 0, p99FloorMs);
  expect(waits.during.p99, `p99 before: ${waits.before.p99} ms`).toBeLessThanOrEqual(limit);
});

it(
  'I-01 I-03 I-05 I-07 I-10 I-24 an older release and this one side by side, then the other way round, then a rollback: nothing lost, nothing doubled',
  { timeout: bothReleasesWithinMs },
  async (context) => {
    other = await buildOf(before, serviceNames);
    if (!other.available) return context.skip(other.reason);
    const old = other.root;
    await survived(context, {
      variant: { root: old },
      act: async (cluster, say) => {
        const copies = Map.groupBy(cluster.instances, ({ label }) => label.slice(-1));
        const [first = [], second = []] = copies.values();
        say('the topics and the database are brought along, beside the older release');
        await cluster.setUp(root);
        say('the first copy of each service is of this release');
        await restarted(cluster, first, root);
        await sleep(mixedMs);
        say('the other way round');
        await restarted(cluster, second, root);
        await restarted(cluster, first, old);
        await sleep(mixedMs);
        say('all are of this release');
        await restarted(cluster, first, root);
        await sleep(mixedMs);
        say('rolled back');
        await restarted(cluster, cluster.instances, old);
        await sleep(mixedMs);
      },
    });
    return undefined;
  },
);
