// Creates topics and retries: a broker confirms a topic before it and the other brokers know it, and a broker that is
// busy or has just started refuses what it accepts a moment later.
//
// Invariants:
//   I1. Idempotent: a topic that exists, or was created by another process meanwhile, is left as it is.
//   I2. When this returns, every broker that leads one of their partitions answers for it: records can be sent.
//   I3. The retries are limited; then the error names the topics and what the brokers answered.
import { Fault, type Logger } from '@dormouse/ports';
import type { Admin, ITopicConfig } from 'kafkajs';

const patienceMs = 30_000;
const pauseMs = 100;
const saidAfterMs = 2_000;

/** What kafkajs throws for topics that could not be created, for each of them or for all. */
interface Refusal {
  readonly type?: string | undefined;
  readonly topic?: string | undefined;
  readonly retriable?: boolean | undefined;
  readonly message: string;
  readonly errors?: readonly Refusal[] | undefined;
}

/** @throws Fault TOPICS_UNFIT; what kafkajs throws. */
export async function makeTopics(admin: Admin, topics: readonly ITopicConfig[], logger: Logger): Promise<void> {
  const names = topics.map(({ topic }) => topic);
  await patiently(logger, async () => {
    const there = new Set(await admin.listTopics());
    const missing = topics.filter(({ topic }) => !there.has(topic));
    if (missing.length > 0) {
      await admin.createTopics({ topics: missing, timeout: 10_000, waitForLeaders: false }); // (I1)
      await pause(); // seldom sooner
    }
    for (const name of names) await fetchOffsets(admin, name); // (I2) by then they are listed, too
  });
}

async function fetchOffsets(admin: Admin, topic: string): Promise<void> {
  try {
    await admin.fetchTopicOffsets(topic);
  } catch (error) {
    const { type, retriable, message } = innermost(error);
    throw Object.assign(new Error(message, { cause: error }), { topic, type, retriable });
  }
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, pauseMs));

/** Retries as long as the work fails with a passing error. (I3) */
export async function patiently<Result>(logger: Logger, work: () => Promise<Result>): Promise<Result> {
  const begun = performance.now();
  for (let said = false; ;) {
    try {
      return await work();
    } catch (error) {
      const refusals = refusalsIn(error);
      if (!refusals.every(passes)) throw namedRefusal(error, refusals);
      const waitedMs = performance.now() - begun;
      if (waitedMs > patienceMs) throw namedRefusal(error, refusals);
      if (!said && waitedMs > saidAfterMs) logger.warn('topics_awaited', { because: describe(refusals) });
      said ||= waitedMs > saidAfterMs;
      await pause();
    }
  }
}

const refusalsIn = (error: unknown): readonly Refusal[] => {
  const refusal = innermost(error);
  return refusal.errors ?? [refusal];
};

/** A broker's answer, inside a Fault or inside a request that kafkajs gave up. */
function innermost(error: unknown): Refusal {
  const { type, errors, cause } = error as Refusal & { readonly cause?: unknown };
  return type === undefined && errors === undefined && cause instanceof Error ? innermost(cause) : (error as Refusal);
}

/** A cluster that is still starting reports too few brokers; an existing topic was created by another process. */
const passing = new Set(['INVALID_REPLICATION_FACTOR', 'TOPIC_ALREADY_EXISTS']);

/** When a broker gives no answer, kafkajs still reads one, and throws a TypeError. */
const passes = (refusal: Refusal): boolean =>
  refusal instanceof TypeError || refusal.retriable === true || passing.has(refusal.type ?? '');

const describe = (refusals: readonly Refusal[]): string =>
  refusals
    .map(
      ({ topic, type, message }) =>
        `${topic === undefined ? '' : `${topic}: `}${message}${type === undefined ? '' : ` (${type})`}`,
    )
    .join('; ');

function namedRefusal(error: unknown, refusals: readonly Refusal[]): unknown {
  if (!refusals.some(({ topic }) => topic !== undefined)) return error;
  const copies = refusals.some(({ type }) => type === 'INVALID_REPLICATION_FACTOR')
    ? ' As many brokers as DORMOUSE_KAFKA_REPLICATION says must be there.'
    : '';
  return new Fault('TOPICS_UNFIT', `The topics cannot be made, or have no leader: ${describe(refusals)}.${copies}`, {
    cause: error,
  });
}
