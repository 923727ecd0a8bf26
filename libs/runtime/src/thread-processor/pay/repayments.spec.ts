import { tenantId, type TenantId } from '@dormouse/ports';
import { expect, it } from 'vitest';
import { createRepayments, type Repayment } from './repayments.ts';

it('R1 after a takeover, a tenant with one thread is paid beside one with a thousand, not behind it', async () => {
  const repayments = createRepayments(2);
  const order: string[] = [];
  const repay = async (tenant: TenantId): Promise<void> => {
    const place = repayments.enter(tenant);
    await place.begun;
    order.push(tenant);
    await Promise.resolve();
    place.leave();
    place.leave(); // twice is once
  };
  const all = [
    ...Array.from({ length: 1_000 }, () => repay(tenantId('loud'))),
    repay(tenantId('quiet')),
    repay(tenantId('quiet')),
  ];
  expect(repayments.waiting).toBe(1_000);
  await Promise.all(all);
  expect(order).toHaveLength(1_002);
  expect(order.lastIndexOf('quiet')).toBeLessThan(8);
  expect(repayments.waiting).toBe(0);
});

it('R2 a lane that is in a hurry waits no longer, and takes no place', async () => {
  const repayments = createRepayments(1);
  const first = repayments.enter(tenantId('a'));
  const [second, third] = [repayments.enter(tenantId('a')), repayments.enter(tenantId('b'))];
  second.hurry();
  await second.begun;
  expect(repayments.waiting).toBe(1);
  const ended: Repayment[] = [];
  void third.begun?.then(() => ended.push(third));
  first.leave();
  await third.begun;
  expect([ended.length, repayments.waiting]).toEqual([1, 0]);
});
