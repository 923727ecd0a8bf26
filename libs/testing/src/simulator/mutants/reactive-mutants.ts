// Subscriptions and child threads, broken.
import { type ProcessorProtocol, soundProtocol } from '@dormouse/runtime';
import type { RecordedEvent, ThreadEffect } from '@dormouse/thread';
import type { Mutant } from '../mutant.ts';

/** Effects of this kind are never owed. */
const unpaid =
  (effect: ThreadEffect['do']): ProcessorProtocol['isOwed'] =>
  (thread, owed) =>
    owed.do !== effect && soundProtocol.isOwed(thread, owed);

export const reactiveMutants: Readonly<Record<string, Mutant>> = {
  eventWithoutSubscription: {
    breaks: 'an event enters whether anybody listens or not',
    protocol: () => ({
      decide: (thread, input, moment) => {
        const decision = soundProtocol.decide(thread, input, moment);
        if (decision.committed || input.kind !== 'SubscriptionEvent' || decision.refusal !== 'NOT_SUBSCRIBED')
          return decision;
        const { toolCallId, eventId, content, associative, final } = input;
        const event: RecordedEvent = {
          type: 'SubscriptionEventReceived',
          ...{ toolCallId, eventId, content, associative, final, into: 'thread', childId: null },
          turnId: thread.turnId ?? input.id,
          cause: { kind: 'event', id: input.id },
        };
        return {
          committed: true,
          events: [event],
          effects: [],
          thread: soundProtocol.evolve(thread, event, moment.now),
        };
      },
    }),
  },
  eventIdIgnored: {
    breaks: 'an event is taken under an id of its delivery, not of its sender',
    ports: ({ ports, random }) => ({
      ...ports,
      inputs: {
        consume: (consumer) => ports.inputs.consume(consumer),
        publish: (key, input, trace) =>
          ports.inputs.publish(
            key,
            input.kind === 'SubscriptionEvent' ? { ...input, id: `${input.id}:${random.fraction()}` } : input,
            trace,
          ),
      },
    }),
  },
  childNotOpened: { breaks: 'a spawned child is not paid for', protocol: () => ({ isOwed: unpaid('SpawnChild') }) },
  reportNotSent: {
    breaks: 'a child’s report is not paid for',
    seedsMax: 500,
    protocol: () => ({ isOwed: unpaid('ReportToParent') }),
  },
};
