import { expect, it } from 'vitest';
import { allOperations } from '../../api/operations.ts';
import { patternOf, routeOf } from './route-name.ts';

const at = (url: string | undefined) => routeOf({ routeOptions: { url } } as Parameters<typeof routeOf>[0]);

it.each(allOperations.map(({ path }) => path))('the route %s is named so wherever it is named', (path) => {
  expect(patternOf(path)).not.toMatch(/[{}]/);
  expect(at(patternOf(path))).toBe(path);
});

it('a request that no route takes has no route', () => {
  expect(at(undefined)).toBeNull();
});
