// Which installation the topics belong to: its mark is a topic without records under the same prefix, named after the
// installation. Topic names are listed in one request, never expire, and need no consumer.
//
// Invariants:
//   M1. Marks are only added; the owner of a prefix with two marks is unknown, so no installation may use the prefix.
import type { Logger } from '@dormouse/ports';
import type { Admin } from 'kafkajs';
import { makeTopics } from './topic-making.ts';

export interface BusIdentity {
  /** Kafka's own name of the cluster. */
  readonly cluster: string;
  readonly prefix: string;
  readonly partitions: number;
}

export interface Mark {
  readonly prefix: string;
  readonly installation: string;
  readonly replication: number;
}

const markOf = (prefix: string): string => `${prefix}installation-`;

/** Installations that have marked this prefix. */
export async function marksUnder(admin: Admin, prefix: string): Promise<readonly string[]> {
  const mark = markOf(prefix);
  const topics = await admin.listTopics();
  return topics.filter((topic) => topic.startsWith(mark)).map((topic) => topic.slice(mark.length));
}

/** (M1) */
export async function putMark(admin: Admin, mark: Mark, logger: Logger): Promise<void> {
  const topic = markOf(mark.prefix) + mark.installation;
  await makeTopics(admin, [{ topic, numPartitions: 1, replicationFactor: mark.replication }], logger);
}

export async function clusterName(admin: Admin): Promise<string> {
  const { clusterId } = await admin.describeCluster();
  return clusterId;
}
