// The buses of a durable world, as one process sees them: a published record survives every process and is delivered to
// the owner of its partition until it is released. (input-bus B1, B2, work-bus W1, W2)
import {
  type BusInput,
  Fault,
  type Clock,
  type InputBus,
  type InputDelivery,
  type ThreadKey,
  unboundedPlace,
  type WorkBus,
  type WorkTopics,
} from '@dormouse/ports';
import type { Broker, BusRecord } from './broker.ts';
import type { Passage } from '../gate.ts';
import { joinGroup, type MemberDeps } from './group-member.ts';
import { nameOf } from '../log/thread-log.ts';
import type { WorldObserver } from '../world-observer.ts';

export interface DurableBusDeps {
  readonly node: string;
  readonly broker: Broker;
  readonly passage: Passage;
  readonly clock: Clock;
  readonly observer: WorldObserver;
}

const retryDelayMsFirst = 50;
const retryDelayMsMax = 5_000;

export function createDurableInputBus(deps: DurableBusDeps): InputBus {
  const { broker, passage, observer, node } = deps;
  return {
    publish: (key, input, trace = null) =>
      untilAnswered(() =>
        passage.write('inputs.publish', `${nameOf(key)} ${input.id}`, () =>
          broker.append('inputs', { ...keyOf(key), trace, value: JSON.stringify(input) }),
        ),
      ),
    consume: (consumer) =>
      joinGroup(memberDeps(deps, 'inputs'), {
        assigned: ({ partition, generation }) => consumer.assigned({ partition, generation }),
        revoked: ({ partition, generation }) => consumer.revoked({ partition, generation }),
        busy: () => consumer.busy(),
        record: ({ partition, generation }, record, release) => {
          const delivery: InputDelivery = {
            ...keyOf(record),
            what: 'input',
            input: JSON.parse(record.value) as BusInput,
            trace: record.trace,
            decided: (version) => observer.decided(node, delivery, version),
            release,
          };
          consumer.deliver({ partition, generation }, delivery);
        },
      }),
  };
}

export function createDurableWorkBus(deps: DurableBusDeps): WorkBus {
  const { broker, passage, observer, node } = deps;
  return {
    publish: async (topic, message) => {
      await untilAnswered(() =>
        passage.write(`${topic}.publish`, `${nameOf(message)} ${message.effect.id}`, () => {
          const record = { ...keyOf(message), trace: message.trace, value: JSON.stringify(message) };
          const isThere = broker.append(topic, record);
          if (isThere) observer.handedOver(node, message);
          return isThere;
        }),
      );
      return { handled: null };
    },
    consume: (topic, handle) =>
      joinGroup(memberDeps(deps, topic), {
        assigned: () => {},
        revoked: async () => {},
        busy: () => false,
        record: (claim, record, release) => {
          void untilHandled(
            deps.clock,
            () => claim.revoked,
            () => handle(parseWork(topic, record), unboundedPlace),
          ).then((handled) => {
            if (handled) release();
          });
        },
      }),
  };
}

/** A record is sent when an answer names its partition; otherwise it is sent again. (broker K9; kafka S2) */
async function untilAnswered(send: () => Promise<boolean>): Promise<void> {
  while (!(await send()));
}

const keyOf = ({ tenant, thread }: ThreadKey): ThreadKey => ({ tenant, thread });

const memberDeps = ({ node, broker, passage, clock }: DurableBusDeps, topic: MemberDeps['topic']): MemberDeps => ({
  node,
  topic,
  broker,
  passage,
  clock,
});

function parseWork<Topic extends keyof WorkTopics>(_topic: Topic, record: BusRecord): WorkTopics[Topic] {
  return JSON.parse(record.value) as WorkTopics[Topic];
}

/** Calls again with backoff until the message is handled (true) or given up (false). (work-bus W2) */
export async function untilHandled(
  clock: Clock,
  givenUp: () => boolean,
  handle: () => Promise<void>,
): Promise<boolean> {
  for (let delayMs = retryDelayMsFirst; !givenUp(); delayMs = Math.min(delayMs * 2, retryDelayMsMax)) {
    try {
      await handle();
      return true;
    } catch (failure) {
      if (!(failure instanceof Error)) throw failure;
      await clock.sleep(failure instanceof Fault && failure.retryAfterMs !== null ? failure.retryAfterMs : delayMs);
    }
  }
  return false;
}
