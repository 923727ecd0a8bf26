import { tenantId } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { createUndecidedInputs } from './undecided-inputs.ts';

const key = { tenant: tenantId('acme'), thread: 't' };
const input = { kind: 'UserMessage', id: 'c:m', messageId: 'm', content: [] } as const;
const turnOfTheLoop = async (): Promise<void> => void (await new Promise((resolve) => setImmediate(resolve)));

describe('inputs on their way to their decision', () => {
  it('tells a publisher of the decision at the end of the turn of the loop: what it leads to goes first', async () => {
    const inputs = createUndecidedInputs({ max: 2, perThreadMax: 2, perTenantMax: 2 });
    const { undecided, done } = inputs.add(key, input, null);
    const order: string[] = [];
    const told = done.then(() => order.push('told'));
    undecided.decided();
    for (let microtasks = 0; microtasks < 50; microtasks++) await Promise.resolve();
    order.push('what it led to');
    await told;
    expect(order).toEqual(['what it led to', 'told']);
  });

  it('refuses nobody whose input is decided, told or not', async () => {
    const inputs = createUndecidedInputs({ max: 2, perThreadMax: 2, perTenantMax: 2 });
    const { undecided, done } = inputs.add(key, input, null);
    undecided.decided();
    inputs.refuseAll(new Error('closing'));
    await expect(done).resolves.toBeUndefined();
    expect([undecided.isWithdrawn, inputs.size]).toEqual([false, 0]);
  });

  it('makes room as soon as an input is decided', async () => {
    const inputs = createUndecidedInputs({ max: 9, perThreadMax: 1, perTenantMax: 9 });
    const { undecided } = inputs.add(key, input, null);
    expect(inputs.refusal(key)?.message).toContain('Too many inputs of this thread');
    undecided.decided();
    expect(inputs.refusal(key)).toBeNull();
    await turnOfTheLoop();
  });
});
