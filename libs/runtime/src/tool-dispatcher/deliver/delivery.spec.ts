import { uncountedPlace } from '@dormouse/collections';
import { type DispatchLedger } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { deliver, type DeliveryDeps, type Delivery } from './delivery.ts';
import { CancelTokenSource } from './cancel-token.ts';
import { invoke, key } from '../spec/dispatcher-rig.ts';

// An unhandled promise rejection ends the process; in this runner it fails the run.
describe('what a delivery asks for together', () => {
  const delivery: Delivery = {
    call: { ...key, effect: invoke(), at: 1, trace: null },
    key,
    cancelToken: new CancelTokenSource(),
    place: uncountedPlace,
    isCrowded: false,
  };
  const depsWith = (look: DispatchLedger['look']): DeliveryDeps =>
    ({ ledger: { look }, clock: { now: () => 1 } }) as unknown as DeliveryDeps;
  const rejects = (): Promise<never> => Promise.resolve().then(throws);
  const throws = (): never => {
    throw new Error('no store');
  };

  it.each([
    ['both reject', rejects, rejects],
    ['the request throws at once, the ledger rejects', throws, rejects],
  ])('is one failure when %s', async (_, build, look) => {
    await expect((async () => deliver(depsWith(look), delivery, build))()).rejects.toThrow('no store');
    await new Promise((resolve) => setTimeout(resolve, 5));
  });
});
