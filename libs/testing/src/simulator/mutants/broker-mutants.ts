// Several brokers treated as one: an answer assigned to the wrong broker, or a missing answer taken for one.
import type { Assignment } from '@dormouse/ports';
import type { Mutant } from '../mutant.ts';

export const brokerMutants: Readonly<Record<string, Mutant>> = {
  lateAnswerTaken: {
    breaks: 'a fetch that was sent with the positions of an earlier assignment is handed to the new claim',
    faults: { move: 0.6 },
    world: ({ durable: { broker } }) => {
      const sound = broker.poll.bind(broker);
      broker.poll = (topic, member, fetch) => {
        const polled = sound(topic, member, fetch);
        return polled.polled === 'records' ? { ...polled, positions: member.positions } : polled;
      };
    },
  },
  claimBehindTheEnd: {
    breaks: 'after a lost tail a claim begins at the committed offset, behind what is there, and swallows what follows',
    faults: { tailLoss: 0.6 },
    world: ({ durable: { broker } }) => {
      const sound = broker.loseTail.bind(broker);
      broker.loseTail = (topic, partition, records) => {
        const { committed } = broker.groups[topic];
        const before = committed[partition] ?? 0;
        sound(topic, partition, records);
        committed[partition] = before;
      };
    },
  },
  revokedByName: {
    breaks: 'revoked assignments are known by partition and generation for ever, though a group may count anew',
    faults: { countAnew: 0.4 },
    ports: ({ ports }) => {
      const revoked = new Set<string>();
      const nameOf = ({ partition, generation }: Assignment): string => `${partition}@${generation}`;
      const consume: typeof ports.inputs.consume = (consumer) =>
        ports.inputs.consume({
          assigned: (assignment) => consumer.assigned(assignment),
          revoked: (assignment) => {
            revoked.add(nameOf(assignment));
            return consumer.revoked(assignment);
          },
          busy: () => consumer.busy(),
          deliver: (assignment, delivery) => {
            if (!revoked.has(nameOf(assignment))) consumer.deliver(assignment, delivery);
          },
        });
      return { ...ports, inputs: { ...ports.inputs, consume } };
    },
  },
  unansweredTakenForSent: {
    breaks: 'a send resolves without an answer that names the partition',
    faults: { move: 0.6 },
    world: ({ durable: { broker } }) => {
      const sound = broker.append.bind(broker);
      broker.append = (topic, record) => {
        sound(topic, record);
        return true;
      };
    },
  },
};
