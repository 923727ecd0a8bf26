// The topic `inputs` over Kafka. Contract: ports/bus/input-bus.ts (B1..B4).
//
// Invariants:
//   I1. A record's key is that of its thread, so all records of a thread are in one partition, in order. (input-bus B2)
//   I2. A record that names no thread is logged and skipped: it belongs to no thread, and must block none.
import { readJson } from '@dormouse/json';
import {
  type Assignment,
  type BusInput,
  type InputBus,
  type InputConsumer,
  isThreadInput,
  type Logger,
  recordKeyOf,
  type ThreadKey,
} from '@dormouse/ports';
import { upcastInput } from '@dormouse/thread';
import type { KafkaMessage } from 'kafkajs';
import type { GroupConsumer, GroupHandlers } from './group-consumer.ts';
import type { RecordSender } from './record-sender.ts';
import { headersOf, traceHeader } from './records/cloud-event.ts';
import { inputEnvelope } from './records/record-envelope.ts';

export interface InputBusDeps {
  readonly topic: string;
  readonly sender: RecordSender;
  readonly partitionOf: (key: ThreadKey) => number;
  readonly join: (handlers: GroupHandlers) => Promise<GroupConsumer>;
  readonly logger: Logger;
}

export function createInputBus({ topic, sender, partitionOf, join, logger }: InputBusDeps): InputBus {
  return {
    publish: ({ tenant, thread }, input, trace = null) => {
      const key = { tenant, thread };
      const value = JSON.stringify({ tenant, thread, input });
      const headers = headersOf({ topic: 'inputs', key, id: input.id, name: input.kind, trace });
      return sender.send({ topic, partition: partitionOf(key), key: recordKeyOf(key), value, headers });
    },
    consume: (consumer) => join(handlersOf(consumer, logger)),
  };
}

function handlersOf(consumer: InputConsumer, logger: Logger): GroupHandlers {
  return {
    assigned: ({ partition, generation }) => consumer.assigned({ partition, generation }),
    revoked: ({ partition, generation }) => consumer.revoked({ partition, generation }),
    busy: () => consumer.busy(),
    record: ({ partition, generation }: Assignment, record, finish, isAgain) => {
      const read = recordOf(record);
      if (read === null) {
        logger.error('record_unreadable', { partition, offset: record.offset, key: record.key?.toString() ?? null });
        return finish(); // (I2)
      }
      const { tenant, thread, input } = read;
      consumer.deliver(
        { partition, generation },
        {
          what: 'input',
          ...{ tenant, thread, input },
          trace: traceOf(record),
          isRedelivery: isAgain,
          publishedAt: performance.now() - Math.max(0, Date.now() - Number(record.timestamp)),
          decided: () => {}, // the record itself is durable until `release`
          release: finish,
        },
      );
    },
  };
}

interface InputRecord extends ThreadKey {
  readonly input: BusInput;
}

/** The value that `publish` wrote; null for any other value. */
function recordOf({ value }: KafkaMessage): InputRecord | null {
  if (value === null) return null;
  try {
    const read = readJson(value.toString('utf8'));
    return inputEnvelope.safeParse(read).success ? upcast(read as InputRecord) : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

const upcast = (record: InputRecord): InputRecord =>
  isThreadInput(record.input) ? { ...record, input: upcastInput(record.input) } : record;

function traceOf({ headers }: KafkaMessage): string | null {
  const header = headers?.[traceHeader];
  return header === undefined ? null : header.toString();
}
