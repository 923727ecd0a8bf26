// The system under a scenario: standalone, or, in the tier that has real servers, five processes over Kafka, MongoDB and
// Redis. The scenarios are the same files and do not know.
import { inject } from 'vitest';
import { endClusters, startCluster } from '../cluster/cluster-process.ts';
import type { System } from './conversation.ts';
import { cleanUp, startStandalone } from './standalone-process.ts';

export function startSystem(): Promise<System> {
  // Provided in the cluster tier only.
  const services = { kafka: inject('kafka'), mongo: inject('mongo'), redis: inject('redis') };
  const { kafka, mongo, redis } = services as Partial<typeof services>;
  if (kafka === undefined || mongo === undefined || redis === undefined) return startStandalone();
  if (!kafka.available || !mongo.available || !redis.available) throw new Error('this tier needs its servers');
  return startCluster({ kafka: kafka.url, mongo: mongo.url, redis: redis.url });
}

/** Ends what a spec file started and removes what it wrote. */
export async function endSystems(): Promise<void> {
  await endClusters();
  await cleanUp();
}
