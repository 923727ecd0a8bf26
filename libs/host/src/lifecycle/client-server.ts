// What the server of the client API is given in both topologies.
import type { Ingress } from '@dormouse/runtime';
import type { Config } from '../config.ts';
import type { HttpServerOptions } from '../http/server/http-server.ts';
import type { Platform } from '../platform/platform.ts';
import { identityTokensOf, masterKeysOf, rateGateOf, tenantOriginsOf } from '../services.ts';
import { version } from '../version.ts';
import { arrivalLimitsOf } from './arrival-limits.ts';
import { hostsOf } from './hosts-of.ts';

export const clientServerOptions = (config: Config, platform: Platform, ingress: Ingress) =>
  ({
    gate: rateGateOf(config, platform),
    arrivals: arrivalLimitsOf(config),
    ingress,
    models: platform.models,
    clock: platform.clock,
    publicUrl: config.PUBLIC_URL ?? null,
    hosts: hostsOf(config),
    origins: tenantOriginsOf(config, platform),
    platformKey: config.PLATFORM_KEY ?? null,
    identities: identityTokensOf(config, platform),
    masterKeys: masterKeysOf(platform),
    logger: platform.logger,
    metrics: platform.metrics,
    tracing: platform.tracing,
    version,
  }) satisfies Partial<HttpServerOptions>;
