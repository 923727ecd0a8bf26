// The topology in which a seed is searched: both, in a fixed rhythm, unless one is requested.
export type Topology = 'durable' | 'standalone';

/** Three of five seeds in the cluster's shape, two of five in one process. */
export const topologyOf = (seed: number): Topology => (seed % 5 < 3 ? 'durable' : 'standalone');
