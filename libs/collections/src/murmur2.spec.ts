import { expect, it } from 'vitest';
import { murmur2 } from './murmur2.ts';

it.each([
  ['', 275_646_681],
  ['acme:thr_1', 1_029_504_490],
  ['acme:thr_01J8Z6Q4V0N7M2K5T9X3B1C8DE', 2_089_388_635],
  ['zenith:münchen-€-😀', 297_536_308],
])('H1: the hash of %j is what it was', (key, hash) => {
  expect(murmur2(key)).toBe(hash);
});
