import type { Webhook, WebhookEvent, WebhookFilter } from '@dormouse/ports';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createEndpointIndex } from './endpoint-index.ts';

const events: readonly WebhookEvent[] = ['thread.idle', 'thread.closed'];
const labels = ['a', 'b'];
const values = ['1', '2'];
const names = ['support', 'sales'];

const metadata = fc.dictionary(fc.constantFrom(...labels), fc.constantFrom(...values));
const filter: fc.Arbitrary<WebhookFilter | null> = fc.option(
  fc.record({ agents: fc.uniqueArray(fc.constantFrom(...names), { minLength: 1 }), metadata }, { requiredKeys: [] }),
);
const webhook = fc.record({
  filter,
  events: fc.uniqueArray(fc.constantFrom(...events), { minLength: 1 }),
  state: fc.constantFrom('active', 'disabled'),
}) as fc.Arbitrary<unknown> as fc.Arbitrary<Webhook>;
const thread = fc.record({ agent: fc.constantFrom(...names), metadata });

it('X1 finds what looking at every endpoint would find', () => {
  fc.assert(
    fc.property(fc.array(webhook, { maxLength: 12 }), thread, fc.constantFrom(...events), (all, row, event) => {
      const lets = ({ filter: given }: Webhook): boolean =>
        (given?.agents ?? [row.agent]).includes(row.agent) &&
        Object.entries(given?.metadata ?? {}).every(([label, value]) => row.metadata[label] === value);
      const asking = all.filter((each) => each.state === 'active' && each.events.includes(event));
      const index = createEndpointIndex(all);
      expect(new Set(index.wanting(event, row))).toEqual(new Set(asking.filter(lets)));
      expect(index.wanting(event, row)).toHaveLength(asking.filter(lets).length);
      expect(index.wants([event])).toBe(asking.length > 0);
      expect(index.needsThread(event)).toBe(asking.some(({ filter: given }) => given !== null));
      if (!index.needsThread(event)) expect(index.wanting(event, null)).toHaveLength(asking.length);
    }),
  );
});
