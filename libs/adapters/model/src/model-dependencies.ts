// What the providers need from outside.
import type { Clock, TenantId } from '@dormouse/ports';

/** A provider that hosts its own models. */
export type HostedProvider = 'openai' | 'anthropic';

export interface HostedSettings {
  readonly key: string | null;
  readonly baseUrl: string | null;
}

export type ProviderEnvironment = Readonly<Partial<Record<HostedProvider, HostedSettings>>>;

export interface ModelDependencies {
  /** Sends its requests through the outbound guard. */
  readonly fetch: typeof globalThis.fetch;
  /** The same for requests of a tenant, one function for each. Default: `fetch`. */
  readonly fetchOf?: (tenant: TenantId) => typeof globalThis.fetch;
  /** The secret's value; null when there is none of this name. @throws Fault when it may not be sent to `origin`. */
  readonly secret: (tenant: TenantId, name: string, origin: string) => Promise<string | null>;
  /** Of the process; empty in a cluster, where one process serves many tenants. */
  readonly environment: ProviderEnvironment;
  /** Reads payloads that the log keeps by reference. */
  readonly blob: (
    tenant: TenantId,
    sha256: string,
  ) => Promise<{ readonly bytes: Uint8Array; readonly mediaType: string } | null>;
  readonly clock: Clock;
}
