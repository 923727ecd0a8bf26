import { expect, it } from 'vitest';
import { createTurnstile } from './turnstile.ts';

it('lets some in at once, the others in their order, also after one has failed', async () => {
  const through = createTurnstile(2);
  const order: string[] = [];
  let [inside, most] = [0, 0];
  const pass = (name: string): Promise<string> =>
    through(async () => {
      order.push(name);
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside--;
      if (name === 'b') throw new Error(name);
      return name;
    });
  const passed = await Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map(pass));
  expect(passed.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
  expect(order).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(most).toBe(2);
  expect(await pass('f')).toBe('f');
});
