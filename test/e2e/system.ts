// The system under a scenario: standalone, or, in the tier that has real servers, five processes over Kafka, MongoDB
// and Redis. The scenarios are the same files for both. Where that tier misses a server, their tests are skipped; their
// hooks then prepare a standalone process that no test uses.
//
// A spec without settings of its own is one tenant of a cluster that all such specs share: it has an agent and a tool
// server as the first tenant of an installation has them, and the platform key makes further tenants.
import { randomBytes } from 'node:crypto';
import { seedExamples } from '../../tools/cluster/seed-examples.ts';
import { endClusters, outputIn, type ServerUrls, startCluster } from '../cluster/cluster-process.ts';
import { sharedCluster } from '../cluster/shared-clusters.ts';
import { platformKey, tenantOf } from '../isolation/tenant-system.ts';
import { servicesOrSkipFile } from '../services/needed-services.ts';
import type { System } from './conversation.ts';
import { cleanUp, request, startStandalone } from './standalone-process.ts';

const servers = servicesOrSkipFile();
/** Only a standalone process has a clock that can be moved. */
export const hasClock = servers === null;

const ofTheShared = { DORMOUSE_PLATFORM_KEY: platformKey };

export function startSystem(env: Readonly<Record<string, string>> = {}): Promise<System> {
  if (servers === null) return startStandalone({ env });
  const isShared = Object.entries(env).every(([name, value]) => ofTheShared[name as never] === value);
  return isShared ? tenantOfTheShared(servers) : startCluster(servers, env);
}

async function tenantOfTheShared(servers: ServerUrls): Promise<System> {
  const { url, key, directory } = await sharedCluster({ servers, settings: ofTheShared, isWatched: false });
  const first: System = {
    ...{ url, key },
    request: (method, path, body, sent) => request(url, key, method, path, body, sent),
    output: () => outputIn(directory),
  };
  const own = await tenantOf(first, `spec-${randomBytes(6).toString('hex')}`);
  const { base_url: tools } = (await first.request('GET', '/v1/tool-servers/example-tools')).json;
  await seedExamples(url, own.key, tools);
  return own;
}

/** Ends what a spec file started and removes what it wrote. */
export async function endSystems(): Promise<void> {
  await endClusters();
  await cleanUp();
}
