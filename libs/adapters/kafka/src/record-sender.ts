// The sender of every published record: records that are ready together go to the brokers in one request.
//
// Invariants:
//   S1. While one request is under way, collect; then send all that is there. Order is kept within a partition.
//       A single record is sent at once; after a request of many records the next one lingers for more. (`linger.ts`)
//   S2. `send` resolves when every in-sync replica has the record; when it rejects, the record may be stored all the
//       same. A record is sent when an answer names its partition. A record that no answer names is sent again, in
//       order: when a leader moves, between two attempts, to a broker that has answered the first one, kafkajs skips
//       the partition and resolves.
//   S3. A record above the limit is refused alone, before it is sent, and a request stays below the brokers' limit: the
//       record fails no other record of its request.
//   S4. A request without an answer for `lateMs` holds back the partitions that it names, and no others: their records
//       leave meanwhile, in a request for each partition. (A dead leader is replaced within seconds; without this all
//       partitions of the process would stand still.)
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
  /** Topic and partition. */
  readonly place: string;
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
/** Longer than a request takes under load, and than the first retry of kafkajs. */
const lateMs = 150;

/** `times`: of the requests that brokers answer. */
export function createRecordSender(
  producer: Producer,
  recordBytesMax: number,
  times: Histogram = noMetrics.histogram('dormouse_store_duration_seconds'),
): RecordSender {
  let queue: Waiting[] = [];
  let sending: Promise<void> | null = null;
  let closed = false;
  let wake = (): void => {};
  /** Partitions of late requests, and these requests. (S4) */
  const lateAt = new Set<string>();
  const lateRequests = new Set<Promise<void>>();
  const linger = new Linger();

  async function sendAll(): Promise<void> {
    await Promise.resolve(); // records published in this tick of the event loop are sent together
    while (queue.length > 0) {
      if (!closed) await linger.wait(); // (S1)
      const lot = takeLot();
      linger.batch(lot.length);
      await (lot.length === 0 ? untilOthersMaySend() : sendOrHold(lot));
    }
    sending = null;
  }

  /** Resolves when the request is answered, or late. */
  async function sendOrHold(lot: readonly Waiting[]): Promise<void> {
    const request = sendLot(lot);
    if (await endsWithin(request, lateMs)) return;
    const places = new Set(lot.map(({ place }) => place));
    for (const place of places) lateAt.add(place);
    const held = request.then(() => {
      for (const place of places) lateAt.delete(place);
      lateRequests.delete(held);
    });
    lateRequests.add(held);
  }

  /** All that waits is for partitions of late requests. */
  async function untilOthersMaySend(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    await Promise.race([promise, ...lateRequests]);
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
        for (const { place, resolve } of unsent) if (answered.has(place)) resolve();
        unsent = unsent.filter(({ place }) => !answered.has(place));
      }
    } catch (error) {
      const fault = faultOf(error);
      for (const { reject } of unsent) reject(fault);
    }
  }

  function takeLot(): readonly Waiting[] {
    if (lateAt.size > 0) return takeLotOfOnePartition();
    const lot = queue.slice(0, countOfRequest(queue));
    queue = queue.slice(lot.length);
    return lot;
  }

  /** (S4) */
  function takeLotOfOnePartition(): readonly Waiting[] {
    const first = queue.find(({ place }) => !lateAt.has(place));
    if (first === undefined) return [];
    const ready = queue.filter(({ place }) => place === first.place);
    const lot = new Set(ready.slice(0, countOfRequest(ready)));
    queue = queue.filter((each) => !lot.has(each));
    return [...lot];
  }

  return {
    send: (record) => {
      if (closed) return Promise.reject(unavailable('The runtime is shutting down.'));
      if (queue.length >= queuedMax) return Promise.reject(unavailable('Too many records are waiting for Kafka.'));
      const bytes = Buffer.byteLength(record.value);
      if (bytes > recordBytesMax) return Promise.reject(tooLarge(bytes, recordBytesMax)); // (S3)
      return new Promise((resolve, reject) => {
        queue.push({ record, place: placeOf(record.topic, record.partition), bytes, resolve, reject });
        sending ??= sendAll();
        wake();
      });
    },
    close: async () => {
      closed = true;
      await sending;
      await Promise.all(lateRequests);
      await producer.disconnect();
    },
  };
}

/** How many records from the first on fit into one request: at least one. */
function countOfRequest(records: readonly Waiting[]): number {
  let bytes = 0;
  let count = 0;
  for (const each of records) {
    bytes += each.bytes;
    if (count > 0 && (bytes > bytesPerRequestMax || count >= recordsPerRequestMax)) break;
    count += 1;
  }
  return count;
}

async function endsWithin(request: Promise<void>, ms: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, ms, false);
  const ends = await Promise.race([request.then(() => true), late]);
  clearTimeout(timer);
  return ends;
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
