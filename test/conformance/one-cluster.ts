// In the cluster tier all conformance specs talk to one cluster: starting five processes takes longer than most of
// them. It starts on first use, so a run without them does not pay for it.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import type { TestProject } from 'vitest/node';
import { type Cluster, endClusters, type ServerUrls, startCluster } from '../cluster/cluster-process.ts';
import { watchedFrom } from './loop-delay.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The address for requesting the cluster; empty in the other tiers. */
    readonly clusterDoor: string;
  }
}

export interface ClusterWish {
  readonly servers: ServerUrls;
  readonly settings: Readonly<Record<string, string>>;
}

export interface SharedCluster extends Pick<Cluster, 'url' | 'key' | 'directory' | 'prefix'> {
  /** Where its processes report how late their event loops are. */
  readonly loops: string;
}

let door: Server | undefined;
let cluster: Promise<Cluster> | undefined;
let loops = '';

export async function setup(project: TestProject): Promise<void> {
  loops = mkdtempSync(join(tmpdir(), 'dormouse-loops-'));
  const opened = createServer((request, response) => {
    void (async () => {
      const { servers, settings } = (await json(request)) as ClusterWish;
      cluster ??= startCluster(servers, { ...settings, ...watchedFrom(loops) });
      const { url, key, directory, prefix } = await cluster;
      response.end(JSON.stringify({ url, key, directory, prefix, loops } satisfies SharedCluster));
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
  rmSync(loops, { recursive: true, force: true });
}
