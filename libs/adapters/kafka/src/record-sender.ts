// The sender of every published record: records that are ready together go to the brokers in one request.
//
// Invariants:
//   S1. While one request is under way, collect; then send all that is there. Order is kept. A single record is sent at
//       once; after a request of many records the next one lingers for more. (`linger.ts`)
//   S2. `send` resolves when every in-sync replica has the record; when it rejects, the record may be stored all the
//       same. A record is sent when an answer names its partition. A record that no answer names is sent again, in
//       order: when a leader moves, between two attempts, to a broker that has answered the first one, kafkajs skips
//       the partition and resolves.
//   S3. A record above the limit is refused alone, before it is sent, and a request stays below the brokers' limit: the
//       record fails no other record of its request.
import { Fault, type Histogram, noMetrics } from '@dormouse/ports';
import type { Message, Producer } from 'kafkajs';
import { Linger } from './linger.ts';
import { faultOf, unavailable } from './kafka-client.ts';

export interface OutgoingRecord {
  readonly topic: string;
  readonly partition: number;
  readonly key: string;
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface RecordSender {
  /** @throws Fault UNAVAILABLE, RECORD_TOO_LARGE. */
  send(record: OutgoingRecord): Promise<void>;
  close(): Promise<void>;
}

interface Waiting {
  readonly record: OutgoingRecord;
  /** Size of its value in UTF-8: the brokers' limit is one of bytes. */
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

const recordsPerRequestMax = 1_000;
const bytesPerRequestMax = 800_000;
const queuedMax = 100_000;
const acksOfAll = -1;
/** Rounds for the records that no answer named. */
const roundsMax = 10;

/** `times`: of the requests that brokers answer. */
export function createRecordSender(
  producer: Producer,
  recordBytesMax: number,
  times: Histogram = noMetrics.histogram('dormouse_store_duration_seconds'),
): RecordSender {
  let queue: Waiting[] = [];
  let sending: Promise<void> | null = null;
  let closed = false;
  const linger = new Linger();

  async function sendAll(): Promise<void> {
    await Promise.resolve(); // records published in this tick of the event loop are sent together
    while (queue.length > 0) {
      if (!closed) await linger.wait(); // (S1)
      const lot = takeLot();
      linger.batch(lot.length);
      await sendLot(lot);
    }
    sending = null;
  }

  /** (S2) */
  async function sendLot(lot: readonly Waiting[]): Promise<void> {
    let unsent = lot;
    try {
      for (let round = 0; unsent.length > 0; round += 1) {
        if (round === roundsMax) throw unavailable('Kafka did not answer for all records that were sent.');
        const from = performance.now();
        const answers = await producer.sendBatch({ acks: acksOfAll, topicMessages: byTopic(unsent) });
        times.record((performance.now() - from) / 1_000);
        const answered = new Set(answers.map(({ topicName, partition }) => placeOf(topicName, partition)));
        const isAnswered = ({ record: { topic, partition } }: Waiting): boolean =>
          answered.has(placeOf(topic, partition));
        for (const each of unsent) if (isAnswered(each)) each.resolve();
        unsent = unsent.filter((each) => !isAnswered(each));
      }
    } catch (error) {
      const fault = faultOf(error);
      for (const { reject } of unsent) reject(fault);
    }
  }

  function takeLot(): readonly Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const each of queue) {
      bytes += each.bytes;
      if (count > 0 && (bytes > bytesPerRequestMax || count >= recordsPerRequestMax)) break;
      count += 1;
    }
    const lot = queue.slice(0, count);
    queue = queue.slice(count);
    return lot;
  }

  return {
    send: (record) => {
      if (closed) return Promise.reject(unavailable('The runtime is shutting down.'));
      if (queue.length >= queuedMax) return Promise.reject(unavailable('Too many records are waiting for Kafka.'));
      const bytes = Buffer.byteLength(record.value);
      if (bytes > recordBytesMax) return Promise.reject(tooLarge(bytes, recordBytesMax)); // (S3)
      return new Promise((resolve, reject) => {
        queue.push({ record, bytes, resolve, reject });
        sending ??= sendAll();
      });
    },
    close: async () => {
      closed = true;
      await sending;
      await producer.disconnect();
    },
  };
}

const placeOf = (topic: string, partition: number): string => `${topic}/${partition}`;

const tooLarge = (bytes: number, max: number): Fault =>
  new Fault(
    'RECORD_TOO_LARGE',
    `A record of ${bytes} bytes does not fit into ${max}. Send less at once, or raise max.message.bytes of the topics and start again.`,
  );

function byTopic(lot: readonly Waiting[]): { topic: string; messages: Message[] }[] {
  const topics = new Map<string, Message[]>();
  for (const { record } of lot) {
    const { topic, partition, key, value, headers } = record;
    const messages = topics.get(topic) ?? [];
    messages.push({ partition, key, value, headers: { ...headers } });
    topics.set(topic, messages);
  }
  return [...topics].map(([topic, messages]) => ({ topic, messages }));
}
