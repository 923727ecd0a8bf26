// The README's commands, pasted into a shell before five processes and real servers.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readDocument } from '../docs/document.ts';
import { stepsOf, walk } from '../docs/walk-through.ts';
import { withServices } from '../services/needed-services.ts';
import { type Cluster, endClusters, startCluster } from './cluster-process.ts';

withServices(['kafka', 'mongo', 'redis'], (servers) => {
  let at: Cluster;
  beforeAll(async () => {
    at = await startCluster(servers);
  });
  afterAll(() => endClusters());

  it('the cluster prints what the README shows of one process', async () => {
    const steps = stepsOf(readDocument('README.md')).filter(({ script }) => !script.includes('/dev/clock'));
    const real = { 'http://127.0.0.1:7420': at.url, '.dormouse/key': join(at.directory, 'key') };
    expect(await walk(steps, at.directory, real)).toEqual({ surprises: [], stderr: '' });
  });
});
