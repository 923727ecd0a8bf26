// The host names of a server, besides loopback.
import type { Config } from '../config.ts';

export function hostsOf(config: Config): ReadonlySet<string> {
  const urls = [config.PUBLIC_URL, config.CALLBACK_BASE_URL].filter((text) => text !== undefined);
  return new Set([config.HOST, ...urls.map((text) => new URL(text).hostname)]);
}
