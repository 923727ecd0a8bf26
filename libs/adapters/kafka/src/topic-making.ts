// Makes topics, and is patient: a broker says that a topic is made before it and the others know it, and one that is busy or
// has just begun refuses what it takes a moment later.
//
// Invariants:
//   I1. Idempotent: what is there, or was made by somebody else in the meantime, is left as it is.
//   I2. When this returns, every broker that leads one of their partitions answers for it: the first records find their place.
//   I3. Patience has an end, and then the topics are named with what the brokers said.
import { Fault, type Logger } from '@dormouse/ports';
import type { Admin, ITopicConfig } from 'kafkajs';

const patienceMs = 30_000;
const pauseMs = 100;
const saidAfterMs = 2_000;

/** What kafkajs throws for topics that could not be made, for each of them or for all. */
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
      await pause(); // it is seldom sooner
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

/** Does it again for as long as it fails with what passes. (I3) */
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

/** What a broker said, in a Fault, or in a request that kafkajs gave up. */
function innermost(error: unknown): Refusal {
  const { type, errors, cause } = error as Refusal & { readonly cause?: unknown };
  return type === undefined && errors === undefined && cause instanceof Error ? innermost(cause) : (error as Refusal);
}

/** Too few brokers is what a cluster says whose brokers are still starting; a topic that is there was made by somebody else. */
const passing = new Set(['INVALID_REPLICATION_FACTOR', 'TOPIC_ALREADY_EXISTS']);

/** Where a broker gave no answer, kafkajs reads one all the same, and trips over it. */
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
