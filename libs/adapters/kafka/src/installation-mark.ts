// Whose topics these are: the mark of an installation is a topic without records under the same prefix, named after it. A name is
// listed in one request, never expires, and needs no consumer.
//
// Invariants:
//   M1. Marks are only added; one prefix with two of them belongs to nobody for certain, and nobody may use it.
import type { Admin } from 'kafkajs';

export interface BusIdentity {
  /** Kafka's own name of the cluster. */
  readonly cluster: string;
  readonly prefix: string;
  readonly partitions: number;
}

const markOf = (prefix: string): string => `${prefix}installation-`;

/** Installations that have marked this prefix. */
export async function marksUnder(admin: Admin, prefix: string): Promise<readonly string[]> {
  const mark = markOf(prefix);
  const topics = await admin.listTopics();
  return topics.filter((topic) => topic.startsWith(mark)).map((topic) => topic.slice(mark.length));
}

/** (M1) */
export async function putMark(admin: Admin, prefix: string, installation: string, replication: number): Promise<void> {
  const topic = markOf(prefix) + installation;
  await admin.createTopics({ topics: [{ topic, numPartitions: 1, replicationFactor: replication }] });
}

export async function clusterName(admin: Admin): Promise<string> {
  const { clusterId } = await admin.describeCluster();
  return clusterId;
}
