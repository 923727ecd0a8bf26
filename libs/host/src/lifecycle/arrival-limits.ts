// The limits for unfinished requests of a server, from the settings.
import type { Config } from '../config.ts';
import { type ArrivalLimits, standardArrivalLimits } from '../http/server/arrivals.ts';

export const arrivalLimitsOf = (config: Config): ArrivalLimits => ({
  requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
  unfinishedBytesMax: config.UNFINISHED_BODIES_MAX_BYTES,
  unfinishedPerPeerMax: perPeerMaxOf(config),
});

/** A process speaks plain HTTP: where its address is https:, all requests come from the proxy in front of it. */
function perPeerMaxOf({ UNFINISHED_REQUESTS_PER_PEER: given, PUBLIC_URL, CALLBACK_BASE_URL }: Config): number | null {
  if (given !== undefined) return given === 0 ? null : given;
  const isProxied = [PUBLIC_URL, CALLBACK_BASE_URL].some((url) => url?.startsWith('https:') === true);
  return isProxied ? null : standardArrivalLimits.unfinishedPerPeerMax;
}
