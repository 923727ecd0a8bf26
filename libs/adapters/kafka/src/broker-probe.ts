// Whether the brokers answer, for the readiness of a process: a process that only publishes has no consumer whose
// missing fetches would show it.
//
// Invariants:
//   P1. An answer comes within `withinMs`. While a question is open, no second one is sent to the brokers.
//   P2. Nothing is cached: once a question has been answered, the next call asks the brokers again.
import type { Admin, Kafka } from 'kafkajs';
import { faultOf } from './kafka-client.ts';

export interface BrokerProbe {
  /** Null when a broker knows the topic, else the reason. */
  problem(): Promise<string | null>;
  close(): Promise<void>;
}

const withinMs = 2_000;

export function createBrokerProbe(kafka: Kafka, topic: string): BrokerProbe {
  const admin = kafka.admin({ retry: { retries: 0 } });
  let asking: Promise<string | null> | null = null;
  return {
    problem() {
      asking ??= ask(admin, topic).finally(() => (asking = null)); // (P2)
      return within(asking); // (P1)
    },
    close: () => admin.disconnect(),
  };
}

async function ask(admin: Admin, topic: string): Promise<string | null> {
  try {
    await admin.connect();
    await admin.fetchTopicMetadata({ topics: [topic] });
    return null;
  } catch (error) {
    return faultOf(error).message;
  }
}

async function within(answer: Promise<string | null>): Promise<string | null> {
  const over = Promise.withResolvers<string>();
  const timer = setTimeout(
    () => over.resolve(`No Kafka answered at DORMOUSE_KAFKA_BROKERS within ${withinMs} ms.`),
    withinMs,
  );
  try {
    return await Promise.race([answer, over.promise]);
  } finally {
    clearTimeout(timer);
  }
}
