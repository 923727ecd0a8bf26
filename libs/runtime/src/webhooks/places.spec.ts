import { tenantId } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { createPlaces } from './places.ts';

const limits = { inAllMax: 10, ofTenantMax: 6, ofEndpointMax: 3 };

describe('places', () => {
  it('P1 of an endpoint are few, and one while it fails', () => {
    const places = createPlaces(limits);
    expect([places.free(tenantId('a'), 'one', false), places.free(tenantId('a'), 'one', true)]).toEqual([3, 1]);
    const give = places.take(tenantId('a'), 'one', false);
    expect([places.free(tenantId('a'), 'one', false), places.free(tenantId('a'), 'one', true)]).toEqual([2, 0]);
    give();
    give();
    expect(places.free(tenantId('a'), 'one', false)).toBe(3);
  });

  it('P2 P3 of a tenant are a part, half of which the failing ones share', () => {
    const places = createPlaces(limits);
    for (const endpoint of ['one', 'two', 'three']) places.take(tenantId('a'), endpoint, true);
    expect([places.free(tenantId('a'), 'four', true), places.free(tenantId('a'), 'four', false)]).toEqual([0, 3]);
    for (let nth = 0; nth < 3; nth += 1) places.take(tenantId('a'), 'four', false);
    expect([places.free(tenantId('a'), 'five', false), places.free(tenantId('b'), 'one', false)]).toEqual([0, 3]);
    for (let nth = 0; nth < 3; nth += 1) places.take(tenantId('b'), 'one', false);
    expect(places.free(tenantId('c'), 'one', false)).toBe(1);
  });
});
