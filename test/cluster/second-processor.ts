// Another thread-processor of an installation, beside the one that its launcher keeps running.
import { type AnotherProcess, startAnother } from './another-process.ts';
import type { Cluster, ServerUrls } from './cluster-process.ts';

export type SecondProcessor = AnotherProcess;

/** Resolves when it is ready: as a member of the group, with partitions or without. */
export const startSecondProcessor = (
  at: Cluster,
  servers: ServerUrls,
  settings: Readonly<Record<string, string>>,
): Promise<SecondProcessor> => startAnother('thread-processor', at, servers, settings);
