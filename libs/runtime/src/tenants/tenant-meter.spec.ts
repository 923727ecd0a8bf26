import { createManualClock, createMemoryWorld, createSeededEntropy } from '@dormouse/adapter-memory';
import { Fault, type Logger, type TenantTallies, tenantId } from '@dormouse/ports';
import { expect, it } from 'vitest';
import { createTenantMeter, type TenantMeter } from './tenant-meter.ts';

const acme = tenantId('acme');

const always = (name: string) => ({ name, until: null });

function rig() {
  const clock = createManualClock();
  const world = createMemoryWorld({ clock });
  const warnings: string[] = [];
  const logger: Logger = { info: () => {}, warn: (event) => void warnings.push(event), error: () => {} };
  const at = { isAway: false, puts: 0, reads: 0 };
  const meter = (node: string): TenantMeter => {
    const { tenantTallies } = world.ports(node);
    const tallies: TenantTallies = {
      put: async (rows) => {
        at.puts += 1;
        if (at.isAway) throw new Fault('UNAVAILABLE', 'the database is away');
        await tenantTallies.put(rows);
      },
      sums: async (tenants, butOf, now) => {
        at.reads += 1;
        if (at.isAway) throw new Fault('UNAVAILABLE', 'the database is away');
        return await tenantTallies.sums(tenants, butOf, now);
      },
    };
    return createTenantMeter({ tallies, clock, entropy: createSeededEntropy(1, node), logger });
  };
  return { clock, meter, at, warnings };
}

it('M2 knows its own at once, and what others have counted two seconds later', async () => {
  const { clock, meter } = rig();
  const [one, two] = [meter('one'), meter('two')];
  one.add(acme, always('tokens'), 5);
  one.add(acme, always('tokens'), 2);
  two.add(acme, always('tokens'), 10);
  two.add(tenantId('zenith'), always('tokens'), 100);
  await two.learn(acme);
  expect([one.total(acme, 'tokens'), two.total(acme, 'tokens')]).toEqual([7, 10]);
  await clock.advance(2_000);
  await Promise.all([one.learn(acme), two.learn(acme)]);
  expect([one.total(acme, 'tokens'), two.total(acme, 'tokens'), two.total(acme, 'bytes')]).toEqual([17, 17, 0]);
});

it('M1 reads once a second however often it is asked, and writes once', async () => {
  const { clock, meter, at } = rig();
  const one = meter('one');
  for (let second = 0; second < 5; second += 1) {
    for (let nth = 0; nth < 100; nth += 1) {
      one.add(acme, always('tokens'), 1);
      one.total(acme, 'tokens');
      await one.learn(acme);
    }
    await clock.advance(1_000);
  }
  expect([at.reads, at.puts, one.total(acme, 'tokens')]).toEqual([5, 5, 500]);
  await clock.advance(60_000);
  expect(at.puts).toBe(5); // nothing has changed
});

it('M3 what was counted in earlier lives of the process stays; flush writes the rest', async () => {
  const { clock, meter } = rig();
  const first = meter('one');
  first.add(acme, always('bytes'), 3);
  await first.flush();
  const next = meter('two');
  next.add(acme, always('bytes'), 4);
  await next.learn(acme);
  expect(next.total(acme, 'bytes')).toBe(7);
  await clock.advance(10_000);
});

it('M4 a level is repeated while it stands, and ends by itself when its process has died', async () => {
  const { clock, meter } = rig();
  const [alive, dies] = [meter('one'), meter('two')];
  alive.set(acme, 'streams', 2);
  dies.set(acme, 'streams', 40);
  await clock.advance(1_000);
  await dies.flush(); // and says nothing any more
  const asks = meter('three');
  await asks.learn(acme);
  expect(asks.total(acme, 'streams')).toBe(42);
  await clock.advance(60_000);
  await asks.learn(acme);
  expect(asks.total(acme, 'streams')).toBe(2);
  alive.set(acme, 'streams', 0);
  await clock.advance(2_000);
  await asks.learn(acme);
  expect(asks.total(acme, 'streams')).toBe(0);
});

it('M1 goes on with what it knows while the store is away, says so once, and loses nothing', async () => {
  const { clock, meter, at, warnings } = rig();
  const [one, two] = [meter('one'), meter('two')];
  two.add(acme, always('tokens'), 10);
  await clock.advance(2_000);
  await one.learn(acme);
  at.isAway = true;
  one.add(acme, always('tokens'), 1);
  await clock.advance(5_000);
  await one.learn(acme);
  expect(one.total(acme, 'tokens')).toBe(11);
  expect(new Set(warnings).size).toBe(1);
  at.isAway = false;
  await clock.advance(3_000);
  await two.learn(acme);
  expect(two.total(acme, 'tokens')).toBe(11);
});
