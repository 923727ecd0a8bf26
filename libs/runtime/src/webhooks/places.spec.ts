import { describe, expect, it } from 'vitest';
import { createPlaces } from './places.ts';

const limits = { inAllMax: 10, ofTenantMax: 6, ofEndpointMax: 3 };

describe('places', () => {
  it('P1 of an endpoint are few, and one while it fails', () => {
    const places = createPlaces(limits);
    expect([places.free('a', 'one', false), places.free('a', 'one', true)]).toEqual([3, 1]);
    const give = places.take('a', 'one', false);
    expect([places.free('a', 'one', false), places.free('a', 'one', true)]).toEqual([2, 0]);
    give();
    give();
    expect(places.free('a', 'one', false)).toBe(3);
  });

  it('P2 P3 of a tenant are a part, half of which the failing ones share', () => {
    const places = createPlaces(limits);
    for (const endpoint of ['one', 'two', 'three']) places.take('a', endpoint, true);
    expect([places.free('a', 'four', true), places.free('a', 'four', false)]).toEqual([0, 3]);
    for (let nth = 0; nth < 3; nth += 1) places.take('a', 'four', false);
    expect([places.free('a', 'five', false), places.free('b', 'one', false)]).toEqual([0, 3]);
    for (let nth = 0; nth < 3; nth += 1) places.take('b', 'one', false);
    expect(places.free('c', 'one', false)).toBe(1);
  });
});
