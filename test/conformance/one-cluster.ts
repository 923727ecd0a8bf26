// In the cluster tier all conformance specs talk to one cluster: starting five processes takes longer than most of them. It
// starts when the first of them asks for it, so a run without them does not pay for it.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { TestProject } from 'vitest/node';
import { type Cluster, endClusters, type ServerUrls, startCluster } from '../cluster/cluster-process.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the cluster is asked for; nothing in the other tiers. */
    readonly clusterDoor: string;
  }
}

export interface ClusterWish {
  readonly servers: ServerUrls;
  readonly settings: Readonly<Record<string, string>>;
}

export type SharedCluster = Pick<Cluster, 'url' | 'key' | 'directory'>;

let door: Server | undefined;
let cluster: Promise<Cluster> | undefined;

export async function setup(project: TestProject): Promise<void> {
  const opened = createServer((request, response) => {
    void (async () => {
      const { servers, settings } = (await json(request)) as ClusterWish;
      cluster ??= startCluster(servers, settings);
      const { url, key, directory } = await cluster;
      response.end(JSON.stringify({ url, key, directory } satisfies SharedCluster));
    })().catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  door = opened;
  await new Promise<void>((resolve) => opened.listen(0, '127.0.0.1', resolve));
  project.provide('clusterDoor', `http://127.0.0.1:${(opened.address() as AddressInfo).port}`);
}

export async function teardown(): Promise<void> {
  door?.close();
  door?.closeAllConnections();
  await endClusters();
}
