// When an input counts as done: released too early, or by an owner that has lost the partition.
import type { ThreadDelivery } from '@dormouse/ports';
import { soundProtocol } from '@dormouse/runtime';
import type { Mutant } from '../mutant.ts';
import { delivering, releaseHeld, releasing } from './changed-deliveries.ts';

export const offsetMutants: Readonly<Record<string, Mutant>> = {
  releaseBeforePayment: {
    breaks: 'the offset is released when the commit is stored, before the payment',
    ports: delivering((delivery) =>
      releasing(delivery, (release) => ({
        decided: (version) => {
          delivery.decided(version);
          release();
        },
      })),
    ),
  },
  releaseBeforeCompletion: {
    breaks: 'the offset is released while the completion still runs',
    protocol: () => ({
      pay: async (deps, debtor, bill) => {
        await soundProtocol.pay(deps, debtor, bill);
        releaseHeld(debtor.run);
      },
    }),
  },
  watermarkSkipsGaps: {
    breaks: 'releasing one offset releases all before it',
    ports: (context) => {
      const delivered = new Map<string, ThreadDelivery[]>();
      return delivering((delivery) => {
        const before = delivered.get(context.node) ?? [];
        delivered.set(context.node, before);
        before.push(delivery);
        const upTo = before.length;
        return releasing(delivery, () => ({
          release: () => {
            for (const earlier of before.splice(0, upTo)) earlier.release();
          },
        }));
      })(context);
    },
  },
  rebalanceUnheard: {
    harmlessBecause:
      "what a lane remembers to have paid stays true, its cache is a guess that the append checks, and the watermark is the bus's own",
    breaks: 'the processor is not told of rebalances: lanes, caches and runs live on (V6)',
    protocol: () => ({ assignmentId: ({ partition }) => `${partition}` }),
    ports: ({ ports }) => {
      const known = new Set<number>();
      const consume: typeof ports.inputs.consume = (consumer) =>
        ports.inputs.consume({
          assigned: (assignment) => {
            if (!known.has(assignment.partition)) consumer.assigned(assignment);
            known.add(assignment.partition);
          },
          revoked: () => Promise.resolve(),
          busy: () => consumer.busy(),
          deliver: (assignment, delivery) => consumer.deliver(assignment, delivery),
        });
      return { ...ports, inputs: { ...ports.inputs, consume } };
    },
  },
  generationNotFenced: {
    breaks: 'offset commits of old generations are accepted',
    harmlessBecause: 'a zombie commits only what it has really paid, and a committed offset never moves back',
    world: ({ durable: { broker } }) => {
      const sound = broker.commit.bind(broker);
      broker.commit = (topic, member, _generation, partition, offset) =>
        sound(topic, member, broker.groups[topic].generation, partition, offset);
    },
  },
};
