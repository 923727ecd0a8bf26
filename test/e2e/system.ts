// The system under a scenario: standalone, or, in the tier that has real servers, five processes over Kafka, MongoDB
// and Redis. The scenarios are the same files for both. Where that tier misses a server, their tests are skipped; their
// hooks then prepare a standalone process that no test uses.
import { endClusters, startCluster } from '../cluster/cluster-process.ts';
import { servicesOrSkipFile } from '../services/needed-services.ts';
import type { System } from './conversation.ts';
import { cleanUp, startStandalone } from './standalone-process.ts';

const servers = servicesOrSkipFile();

export function startSystem(env: Readonly<Record<string, string>> = {}): Promise<System> {
  return servers === null ? startStandalone({ env }) : startCluster(servers, env);
}

/** Ends what a spec file started and removes what it wrote. */
export async function endSystems(): Promise<void> {
  await endClusters();
  await cleanUp();
}
