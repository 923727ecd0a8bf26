// Several brokers taken for one: what an answer belongs to, and what no answer says.
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
