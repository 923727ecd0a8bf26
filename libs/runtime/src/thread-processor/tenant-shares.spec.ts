// What tenants get of one processor: the budgets of their quotas, and their shares beside each other.
import { describe, expect, it } from 'vitest';
import { setQuotas } from '../tenants/spec/limits-stage.ts';
import {
  calls,
  createStage,
  inTurn,
  invoked,
  key,
  message,
  opened,
  opening,
  type Play,
  result,
  says,
} from './spec/processor-stage.ts';

/** An answer that costs so many tokens. */
const costing = (tokens: number, play: Play): Play =>
  async function* (request) {
    for await (const part of play(request))
      yield part.part === 'finish' ? { ...part, usage: { inputTokens: tokens, outputTokens: 0 } } : part;
  };

describe.each(['standalone', 'durable'] as const)('the quotas of a tenant, %s', (topology) => {
  it('tokens of the day: its running threads ask nothing more, and go on with a retry once it is raised', async () => {
    const play = inTurn(costing(60, calls('weather', '{}')), costing(60, says('sunny')), says('again'));
    const { stage, actor } = await opened({ topology, hasTenants: true, play });
    await setQuotas(actor.ports, key.tenant, { tokensPerDayMax: 100 });
    await stage.clock.advance(1_000);
    await actor.ports.inputs.publish(key, message('first'));
    await stage.clock.advance(1_000);
    await actor.ports.inputs.publish(key, result(invoked(stage)));
    await stage.clock.advance(1_000);
    expect(stage.told().slice(-1)).toEqual(['CompletionRecorded']); // 120 are spent, within one count
    await actor.ports.inputs.publish(key, message('second'));
    await stage.clock.advance(5_000);
    expect([stage.told().slice(-2), stage.asked.length]).toEqual([['MessageAccepted', 'BudgetExceeded'], 2]);
    await setQuotas(actor.ports, key.tenant, { tokensPerDayMax: 1_000 });
    await stage.clock.advance(1_000);
    await actor.ports.inputs.publish(key, { kind: 'RetryRequest', id: 'c:req_1', requestId: 'req_1' });
    await stage.clock.advance(5_000);
    expect([stage.told().slice(-2), stage.asked.length]).toEqual([['CompletionRequested', 'CompletionRecorded'], 3]);
    await actor.service.stop(0);
    // A process that has counted nothing itself knows what was spent, from its first decision on.
    const next = await stage.processor('p2');
    await setQuotas(next.ports, key.tenant, { tokensPerDayMax: 100 });
    await stage.clock.advance(1_000);
    await next.ports.inputs.publish(key, message('third'));
    await stage.clock.advance(5_000);
    expect(stage.told().slice(-1)).toEqual(['BudgetExceeded']);
    await next.service.stop(0);
  });
});

describe('a processor with few places', () => {
  it('L7 decides for a tenant with one thread beside one with hundreds, after as many slices as tenants wait', async () => {
    const stage = createStage({ hasTenants: true });
    const actor = await stage.processor('p1', { settings: { slicesInFlightMax: 8 } });
    const order: string[] = [];
    const open = (tenant: string, thread: string): void => {
      void actor.ports.inputs.publish({ tenant, thread }, opening()).then(() => order.push(tenant));
    };
    for (let nth = 0; nth < 300; nth += 1) open('storm', `thr_${nth}`);
    for (let nth = 0; nth < 3; nth += 1) open('quiet', `thr_${nth}`);
    await stage.clock.advance(1_000);
    expect(order.filter((tenant) => tenant === 'storm')).toHaveLength(300);
    const last = order.lastIndexOf('quiet');
    expect(last).toBeLessThan(30);
    await actor.service.stop(0);
  });
});
