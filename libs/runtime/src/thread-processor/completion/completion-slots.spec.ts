import { describe, expect, it } from 'vitest';
import { createCompletionSlots } from './completion-slots.ts';

const never = new AbortController().signal;

describe('completion slots', () => {
  it('serve waiting tenants in turn, so that a burst of one delays itself', async () => {
    const slots = createCompletionSlots(1);
    const served: string[] = [];
    const take = (tenant: string): void => void slots.take(tenant, never)?.then(() => served.push(tenant));
    expect(slots.take('a', never)).toBeNull();
    for (const tenant of ['a', 'a', 'a', 'b', 'c']) take(tenant);
    for (let given = 0; given < 5; given++) {
      slots.give();
      await Promise.resolve();
    }
    expect(served).toEqual(['a', 'b', 'c', 'a', 'a']);
    expect(slots.waiting).toBe(0);
  });

  it('forget a completion that was ended while it waited', async () => {
    const slots = createCompletionSlots(1);
    expect(slots.take('a', never)).toBeNull();
    const ended = new AbortController();
    const waiting = slots.take('b', ended.signal);
    ended.abort();
    expect(await waiting).toBe(false);
    slots.give();
    expect(slots.taken).toBe(0);
  });
});
