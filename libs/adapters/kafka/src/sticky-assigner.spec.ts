import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assignSticky, type MemberClaims } from './sticky-assigner.ts';

const group = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 7 }).chain((names) =>
  fc.tuple(
    fc.integer({ min: 0, max: 24 }),
    fc.tuple(
      ...names.map((member) =>
        fc.record({
          member: fc.constant(member),
          generation: fc.nat(3),
          owned: fc.uniqueArray(fc.nat(30), { maxLength: 30 }),
        }),
      ),
    ),
  ),
);

const claims = (shares: ReadonlyMap<string, readonly number[]>, generation = 1): MemberClaims[] =>
  [...shares].map(([member, owned]) => ({ member, generation, owned }));

describe('the sticky assigner', () => {
  it('gives every partition to exactly one member, in shares that differ by at most one (S1)', () => {
    fc.assert(
      fc.property(group, ([partitions, members]) => {
        const shares = assignSticky(partitions, members);
        expect([...shares.values()].flat().toSorted((a, b) => a - b)).toEqual([...Array(partitions).keys()]);
        const sizes = [...shares.values()].map((share) => share.length);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('moves nothing while the members stay (S2)', () => {
    fc.assert(
      fc.property(group, ([partitions, members]) => {
        const before = assignSticky(partitions, members);
        const after = assignSticky(partitions, claims(before));
        for (const [member, share] of before) expect(new Set(after.get(member))).toEqual(new Set(share));
      }),
    );
  });

  it('moves no more than what a newcomer gets, or what one who left had (S2)', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 24 }), fc.integer({ min: 1, max: 6 }), (partitions, count) => {
        const names = Array.from({ length: count }, (_, index) => `m${index}`);
        const before = assignSticky(
          partitions,
          names.map((member) => ({ member, generation: 0, owned: [] })),
        );
        const joined = assignSticky(partitions, [...claims(before), { member: 'new', generation: -1, owned: [] }]);
        for (const [member, share] of before)
          expect(share.filter((partition) => !joined.get(member)?.includes(partition)).length).toBeLessThanOrEqual(
            joined.get('new')?.length ?? 0,
          );
        const left = assignSticky(
          partitions,
          claims(joined, 2).filter(({ member }) => member !== 'new'),
        );
        for (const [member, share] of joined)
          if (member !== 'new') for (const partition of share) expect(left.get(member)).toContain(partition);
      }),
    );
  });

  it('believes the later generation of two who claim one partition (S3)', () => {
    const shares = assignSticky(2, [
      { member: 'zombie', generation: 3, owned: [0] },
      { member: 'owner', generation: 4, owned: [0] },
    ]);
    expect(shares.get('owner')).toEqual([0]);
  });
});
