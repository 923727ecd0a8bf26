// In the cluster tier the specs that wish for the same settings talk to one cluster: starting its processes takes
// longer than most of them. It starts on first use, so a run without such specs does not pay for it.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import { watchedFrom } from '../conformance/loop-delay.ts';
import { type Cluster, endClusters, type ServerUrls, startCluster } from './cluster-process.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The address for requesting a cluster; empty in the other tiers. */
    readonly clusterDoor: string;
  }
}

interface ClusterWish {
  readonly servers: ServerUrls;
  readonly settings: Readonly<Record<string, string>>;
  /** Its processes measure their event loops all the time, which is a hundredth of a processor for each. */
  readonly isWatched: boolean;
}

export interface SharedCluster extends Pick<Cluster, 'url' | 'key' | 'directory' | 'prefix'> {
  /** Where its processes report how late their event loops are, if it is watched. */
  readonly loops: string;
}

let door: Server | undefined;
const clusters = new Map<string, Promise<SharedCluster>>();
const scratch: string[] = [];

export async function setup(project: TestProject): Promise<void> {
  const opened = createServer((request, response) => {
    void (async () => response.end(JSON.stringify(await clusterFor((await json(request)) as ClusterWish))))().catch(
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  door = opened;
  await new Promise<void>((resolve) => opened.listen(0, '127.0.0.1', resolve));
  project.provide('clusterDoor', `http://127.0.0.1:${(opened.address() as AddressInfo).port}`);
}

export async function teardown(): Promise<void> {
  door?.close();
  door?.closeAllConnections();
  await endClusters();
  for (const loops of scratch) rmSync(loops, { recursive: true, force: true });
}

/** The cluster with these settings, requested by a spec file. */
export async function sharedCluster(wish: ClusterWish): Promise<SharedCluster> {
  const answer = await fetch(inject('clusterDoor'), { method: 'POST', body: JSON.stringify(wish) });
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()) as SharedCluster;
}

function clusterFor({ servers, settings, isWatched }: ClusterWish): Promise<SharedCluster> {
  const wished = JSON.stringify([settings, isWatched]);
  const found = clusters.get(wished) ?? startShared({ servers, settings, isWatched });
  clusters.set(wished, found);
  return found;
}

async function startShared({ servers, settings, isWatched }: ClusterWish): Promise<SharedCluster> {
  const loops = mkdtempSync(join(tmpdir(), 'dormouse-loops-'));
  scratch.push(loops);
  const { url, key, directory, prefix } = await startCluster(servers, {
    ...settings,
    ...(isWatched ? watchedFrom(loops) : {}),
  });
  return { url, key, directory, prefix, loops };
}
