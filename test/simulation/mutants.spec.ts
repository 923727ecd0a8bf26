// A checker that cannot fail is a defect: every deliberately broken variant of the protocol is caught within a fixed
// range of seeds, and harmless ones say why and stay harmless.
import { judgeSeed, type Mutant, mutants, soundInstallation } from '@dormouse/testing';
import { describe, expect, it } from 'vitest';

const seedsUsually = 250;
const seedsForHarmless = 12;

const named = Object.entries(mutants);
const harmful = named.filter(([, { harmlessBecause }]) => harmlessBecause === undefined);
const harmless = named.filter(([, { harmlessBecause }]) => harmlessBecause !== undefined);

/** The first of so many seeds that catches it, with what it violates; null when none of them does. */
async function caughtBy(
  mutant: Mutant,
  seeds: number,
  first = 0,
): Promise<{ readonly seed: number; readonly ids: readonly string[] } | null> {
  const topology = mutant.topology ?? 'durable';
  for (let seed = first; seed < first + seeds; seed += 1) {
    const { violations } = await judgeSeed({ seed, topology, mutant });
    if (violations.length > 0) return { seed, ids: [...new Set(violations.map(({ id }) => id))] };
  }
  return null;
}

describe('the simulator catches a protocol in which', () => {
  it.each(harmful.map(([name, mutant]) => ({ name, mutant, ...mutant })))(
    '$breaks ($name)',
    async ({ mutant, seedsMax, faults, topology }) => {
      const caught = await caughtBy(mutant, seedsMax ?? seedsUsually);
      expect(caught).not.toBeNull();
      // The broken rule was caught, not the faults of the search.
      const sound = { ...soundInstallation, ...(faults && { faults }), ...(topology && { topology }) };
      expect(await caughtBy(sound, 1, caught?.seed)).toBeNull();
    },
  );
});

describe('the simulator finds nothing wrong where', () => {
  it.each(harmless.map(([name, mutant]) => ({ name, mutant, ...mutant })))(
    '$breaks: $harmlessBecause ($name)',
    async ({ mutant }) => {
      expect(await caughtBy(mutant, seedsForHarmless)).toBeNull();
    },
  );
});
