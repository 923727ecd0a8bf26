// A modest number of universes on every run of the specs; the full search is `npm run sim` and a step of `npm test`.
import { judgeSeed, soundInstallation, type Topology } from '@dormouse/testing';
import { describe, expect, it } from 'vitest';

const seeds = Array.from({ length: 15 }, (_, index) => 5_000 + index);

describe.each<Topology>(['durable', 'standalone'])('a %s universe', (topology) => {
  it.each(seeds)('keeps every promise and repeats, step by step (seed %i)', async (seed) => {
    const { violations, commits } = await judgeSeed({ seed, topology, twice: true });
    expect(violations).toEqual([]);
    expect(commits).toBeGreaterThan(0);
  });

  it('in which agents and tool servers are paused at random loses nothing and does nothing twice', async () => {
    const mutant = { ...soundInstallation, faults: { pauses: 1 } };
    const held = { agent: 0, server: 0 };
    for (const seed of seeds.slice(0, 8)) {
      const { violations, counters } = await judgeSeed({ seed, topology, mutant });
      expect(violations, `seed ${seed}`).toEqual([]);
      held.agent += counters.get('held by agent') ?? 0;
      held.server += counters.get('held by tool_server') ?? 0;
    }
    expect(Math.min(held.agent, held.server)).toBeGreaterThan(0);
  });

  it('is another one under another seed', async () => {
    const [one, other] = [await judgeSeed({ seed: 1, topology }), await judgeSeed({ seed: 2, topology })];
    expect(one.hash).not.toBe(other.hash);
  });

  it('reads as one line per step: time, node, what', async () => {
    const { lines, steps } = await judgeSeed({ seed: 3, topology, readable: true });
    expect(lines.length).toBeGreaterThanOrEqual(steps / 4);
    expect(lines.find((line) => line.includes('log.append'))).toMatch(/^ *\d+ {2}\S+ +log\.append /);
  });
});
