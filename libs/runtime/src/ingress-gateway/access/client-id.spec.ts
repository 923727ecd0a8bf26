import { tenantId } from '@dormouse/ports';
import { createManualClock, createSeededEntropy } from '@dormouse/adapter-memory';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inputIdOf, publicId, requestNames, type RequestOrigin, timeSortedName } from './client-id.ts';

const mint = () => requestNames({ clock: createManualClock(), entropy: createSeededEntropy(1) });
const origin: RequestOrigin = {
  tenant: tenantId('acme'),
  method: 'POST',
  path: '/v1/threads/thr_1/messages',
  idempotencyKey: 'key-1',
};

describe('ids of client requests', () => {
  it('are the same for the same keyed request, in any process', () => {
    expect(mint()(origin)).toBe(mint()(origin));
  });

  it('differ when tenant, method, path or key differ', () => {
    const others = [
      { tenant: tenantId('other') },
      { method: 'PUT' },
      { path: '/v1/threads/thr_2/messages' },
      { idempotencyKey: 'key-2' },
    ];
    const names = [origin, ...others.map((other) => ({ ...origin, ...other }))].map((each) => mint()(each));
    expect(new Set(names).size).toBe(names.length);
  });

  it('are never the same without a key', () => {
    const one = mint();
    const unkeyed = { ...origin, idempotencyKey: null };
    expect(one(unkeyed)).not.toBe(one(unkeyed));
  });

  it('carry the same 26 characters in their input id and their public id', () => {
    const name = mint()(origin);
    expect(name).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    expect([inputIdOf(name), publicId('msg', name)]).toEqual([`c:${name}`, `msg_${name}`]);
  });

  it('sort by time where they carry one', () => {
    const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });
    fc.assert(
      fc.property(time, time, fc.string(), fc.string(), (earlier, later, a, b) => {
        fc.pre(earlier < later);
        expect(timeSortedName(earlier, a) < timeSortedName(later, b)).toBe(true);
      }),
    );
  });
});
