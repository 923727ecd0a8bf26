// The system of the conformance specs: a standalone process of the spec's own, or the cluster of the whole tier. Where
// that tier misses a server, their tests are skipped; their hooks then prepare a standalone process that no test uses.
import { outputIn } from '../cluster/cluster-process.ts';
import { sharedCluster } from '../cluster/shared-clusters.ts';
import type { System } from '../e2e/conversation.ts';
import { request, scratchDirectory, startStandalone } from '../e2e/standalone-process.ts';
import { servicesOrSkipFile } from '../services/needed-services.ts';
import { watchedFrom } from './loop-delay.ts';

const servers = servicesOrSkipFile();

/** Short timeouts, so that tests need not wait; and verbose, so that a secret in a log line would be seen. */
const settings = {
  DORMOUSE_LOG_LEVEL: 'info',
  DORMOUSE_TOOL_ACK_TIMEOUT_MS: '1500',
  DORMOUSE_TOOL_RETRY_FIRST_MS: '200',
  DORMOUSE_TOOL_RETRY_TOTAL_MS: '2000',
  DORMOUSE_MODEL_RETRY_TOTAL_MS: '1500',
};

export interface ConformanceSystem extends System {
  /** Where its processes report how long their event loops are blocked, see `loopDelay`. */
  readonly loops: string;
  /** Of the cluster's topics; empty for a standalone process. */
  readonly prefix: string;
}

export async function conformanceSystem(): Promise<ConformanceSystem> {
  if (servers === null) {
    const loops = await scratchDirectory();
    return { ...(await startStandalone({ env: { ...settings, ...watchedFrom(loops) } })), loops, prefix: '' };
  }
  const { url, key, directory, loops, prefix } = await sharedCluster({ servers, settings, isWatched: true });
  return {
    ...{ url, key, loops, prefix },
    request: (method, path, body, sent) => request(url, key, method, path, body, sent),
    output: () => outputIn(directory),
  };
}
