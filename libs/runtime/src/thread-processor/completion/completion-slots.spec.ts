import { tenantId, type TenantId } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { unlimited } from '../../tenants/tenant-limits.ts';
import { type CompletionSlots, createCompletionSlots, type SlotGroup } from './completion-slots.ts';

const group = (tenant: TenantId, endpoint = 'e'): SlotGroup => ({ tenant, endpoint });

/** Requests so many slots; those given, now or later, are counted and never given back. */
function ask(slots: CompletionSlots, of: SlotGroup, count: number): { got: number } {
  const asked = { got: 0 };
  for (let each = 0; each < count; each++) {
    if (slots.take(of)) asked.got += 1;
    else slots.wait({ ...of, serve: () => void (asked.got += 1) });
  }
  return asked;
}

describe('completion slots', () => {
  it('serve waiting tenants in turn, so that a burst of one delays itself', () => {
    const slots = createCompletionSlots(1);
    const served: string[] = [];
    expect(slots.take(group(tenantId('a')))).toBe(true);
    for (const tenant of [tenantId('a'), tenantId('a'), tenantId('a'), tenantId('b'), tenantId('c')])
      slots.wait({ ...group(tenant), serve: () => void served.push(tenant) });
    for (const tenant of [tenantId('a'), tenantId('a'), tenantId('b'), tenantId('c'), tenantId('a')])
      slots.give(group(tenant));
    expect(served).toEqual(['a', 'b', 'c', 'a', 'a']);
    expect([slots.waiting, slots.taken]).toEqual([0, 1]);
  });

  it('serve the endpoints of a tenant in turn', () => {
    const slots = createCompletionSlots(1);
    const served: string[] = [];
    slots.take(group(tenantId('a'), 'x'));
    for (const endpoint of ['x', 'x', 'y', 'x'])
      slots.wait({ ...group(tenantId('a'), endpoint), serve: () => void served.push(endpoint) });
    for (const endpoint of ['x', 'x', 'y']) slots.give(group(tenantId('a'), endpoint));
    expect(served).toEqual(['x', 'y', 'x']);
  });

  it('forget a completion that was ended while it waited', () => {
    const slots = createCompletionSlots(1);
    const waiter = { ...group(tenantId('b')), serve: () => expect.fail('it has left') };
    slots.take(group(tenantId('a')));
    slots.wait(waiter);
    expect([slots.leave(waiter), slots.leave(waiter)]).toEqual([true, false]);
    slots.give(group(tenantId('a')));
    expect([slots.waiting, slots.taken]).toEqual([0, 0]);
  });

  it('leave room for another endpoint and another tenant, however many completions of some hang', () => {
    const slots = createCompletionSlots(2_000);
    const hung = ask(slots, group(tenantId('a'), 'dead'), 4_000);
    expect(hung.got).toBeGreaterThan(1_500);
    expect(ask(slots, group(tenantId('a'), 'well'), 20).got).toBe(20);
    for (let dead = 0; dead < 20; dead++) ask(slots, group(tenantId('a'), `dead${dead}`), 400);
    for (let fine = 0; fine < 5; fine++)
      expect(ask(slots, group(tenantId('a'), `fine${fine}`), 2).got).toBeGreaterThan(0);
    expect(ask(slots, group(tenantId('b'), 'dead'), 100).got).toBe(100);
    expect(slots.taken).toBeLessThanOrEqual(2_000);
    for (let tenant = 0; tenant < 50; tenant++) ask(slots, group(tenantId(`t${tenant}`), 'dead'), 400);
    expect(ask(slots, group(tenantId('c')), 1).got).toBe(1);
  });

  it('L2 L3 serve by weight, and leave a heavier tenant more room', () => {
    const weights: Readonly<Record<string, number>> = { heavy: 3, light: 1 };
    const limits = { ...unlimited, weightOf: (tenant: string) => weights[tenant] ?? 1 };
    const slots = createCompletionSlots(400, undefined, limits);
    const held: Record<string, number> = { heavy: 0, light: 0 };
    const served: Record<string, number> = { heavy: 0, light: 0 };
    const take = (tenant: string): void => {
      held[tenant] = (held[tenant] ?? 0) + 1;
      served[tenant] = (served[tenant] ?? 0) + 1;
    };
    const request = (tenant: TenantId): void => {
      if (slots.take(group(tenant))) take(tenant);
      else slots.wait({ ...group(tenant), serve: () => take(tenant) });
    };
    for (let nth = 0; nth < 3_000; nth += 1)
      for (const tenant of [tenantId('light'), tenantId('heavy')]) request(tenant);
    for (let step = 0; step < 4_000; step += 1) {
      // Each ends as often as the others: the one with more slots gives back more.
      const tenant = step % slots.taken < (held['heavy'] ?? 0) ? tenantId('heavy') : tenantId('light');
      held[tenant] = (held[tenant] ?? 0) - 1;
      slots.give(group(tenant));
      request(tenant);
    }
    expect((served['heavy'] ?? 0) / (served['light'] ?? 1)).toBeGreaterThan(2); // what is kept for others is taken from both
    expect((served['heavy'] ?? 0) / (served['light'] ?? 1)).toBeLessThan(3.5);
  });

  it('L5 run no more completions of a tenant than its quota, and serve the others', () => {
    let elsewhere = 1;
    const limits = {
      ...unlimited,
      completionsLeft: (tenant: string, here: number) => (tenant === 'few' ? 3 - elsewhere - here : Infinity),
    };
    const slots = createCompletionSlots(10, undefined, limits);
    const few = ask(slots, group(tenantId('few')), 5);
    expect([few.got, ask(slots, group(tenantId('others')), 5).got]).toEqual([2, 5]);
    slots.give(group(tenantId('few')));
    expect(few.got).toBe(3);
    elsewhere = 0; // another process has given one back
    slots.look();
    expect(few.got).toBe(4);
  });

  it('L4 let of one tenant wait no more than it leaves room for others: however many wait, theirs do not fail', () => {
    const slots = createCompletionSlots(1, 1_000);
    slots.take(group(tenantId('loud')));
    const waits = (tenant: TenantId): boolean => slots.wait({ ...group(tenant), serve: () => {} });
    const loud = Array.from({ length: 5_000 }, () => waits(tenantId('loud')));
    expect(loud.filter(Boolean)).toHaveLength(500);
    expect(Array.from({ length: 50 }, () => waits(tenantId('quiet'))).every(Boolean)).toBe(true);
    const tenants = Array.from({ length: 2_000 }, (_, nth) => waits(tenantId(`tenant-${nth}`)));
    expect([tenants.filter(Boolean).length, slots.waiting]).toEqual([450, 1_000]);
  });
});
