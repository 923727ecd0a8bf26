// The topics `dispatches` and `notices` over Kafka. Contract: ports/bus/work-bus.ts (W1 to W4).
//
// Invariants:
//   W1. The record is durable by itself: the commit that owes it may be released as soon as the record is published.
//   W2. A message that fails is retried here, and stays unfinished meanwhile; later messages go on. A message that
//       waits holds no place (work-bus W3); after a crash it is delivered again: the watermark has not passed it.
import { readJson } from '@dormouse/json';
import {
  type Assignment,
  createWorkPlaces,
  Fault,
  type Logger,
  recordKeyOf,
  type ThreadKey,
  type WorkBus,
  type WorkPlace,
  type WorkShares,
  type WorkTopics,
} from '@dormouse/ports';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GroupConsumer, GroupHandlers } from './group-consumer.ts';
import type { RecordSender } from './record-sender.ts';
import { headersOf } from './records/cloud-event.ts';
import { workEnvelope } from './records/record-envelope.ts';

export interface WorkBusDeps {
  readonly topicOf: (name: keyof WorkTopics) => string;
  readonly sender: RecordSender;
  readonly partitionOf: (key: ThreadKey) => number;
  readonly join: (name: keyof WorkTopics, handlers: GroupHandlers) => Promise<GroupConsumer>;
  /** How many messages hold a place at once. */
  readonly inFlightMax: number;
  /** Messages in memory, waiting ones included: with this many no more are consumed. */
  readonly heldMax: number;
  readonly logger: Logger;
}

const retryMsFirst = 100;
const retryMsMax = 30_000;

export function createWorkBus(deps: WorkBusDeps): WorkBus {
  return {
    publish: async (name, message) => {
      const { tenant, thread, effect, trace } = message;
      const key = { tenant, thread };
      const headers = headersOf({ topic: name, key, id: effect.id, name: effect.do, trace });
      const value = JSON.stringify(message);
      const [topic, partition] = [deps.topicOf(name), deps.partitionOf(message)];
      await deps.sender.send({ topic, partition, key: recordKeyOf(message), value, headers });
      return { handled: null };
    },
    consume: (name, handle, shares) => deps.join(name, handlersOf(deps, name, handle, shares)),
  };
}

function handlersOf<Name extends keyof WorkTopics>(
  { inFlightMax, heldMax, logger }: WorkBusDeps,
  name: Name,
  handle: (message: WorkTopics[Name], place: WorkPlace) => Promise<void>,
  shares: WorkShares = { weightOf: () => 1 },
): GroupHandlers {
  const revoked = new WeakSet<Assignment>();
  const places = createWorkPlaces({ inFlightMax, heldMax }, shares);

  /** (W2) True when the message was handled, false when this process does not own it any more. */
  async function untilHandled(message: WorkTopics[Name], isOver: () => boolean, place: WorkPlace): Promise<boolean> {
    for (let delayMs = retryMsFirst; !isOver(); delayMs = Math.min(delayMs * 2, retryMsMax)) {
      try {
        await handle(message, place);
        return true;
      } catch (error) {
        const wanted = error instanceof Fault ? error.retryAfterMs : null;
        logger.warn('work_failed', { topic: name, id: message.effect.id, reason: String(error) });
        await place.releasedDuring(() => sleep(wanted ?? delayMs, null, { ref: false }));
      }
    }
    return false;
  }

  return {
    assigned: () => {},
    revoked: async (assignment) => void revoked.add(assignment),
    busy: () => places.held >= heldMax,
    record: (assignment, { value, offset }, finish) => {
      const message = messageOf<Name>(value);
      if (message === null) {
        logger.error('record_unreadable', { topic: name, partition: assignment.partition, offset });
        return finish();
      }
      const isOver = (): boolean => revoked.has(assignment);
      const held = places.hold(message);
      void held
        .inPlace((place) => untilHandled(message, isOver, place))
        .then((handled) => {
          if (handled) finish();
        })
        .finally(() => held.leave());
    },
  };
}

/** The message that `publish` wrote; null for any other value. */
function messageOf<Name extends keyof WorkTopics>(value: Buffer | null): WorkTopics[Name] | null {
  if (value === null) return null;
  try {
    const read = readJson(value.toString('utf8'));
    return workEnvelope.safeParse(read).success ? (read as WorkTopics[Name]) : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
