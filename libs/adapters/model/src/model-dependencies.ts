// What the providers need from the world.
import type { Clock } from '@dormouse/ports';

export interface ModelDependencies {
  /** Goes through the outbound guard. */
  readonly fetch: typeof globalThis.fetch;
  /** The secret's value, when it may be used towards `origin`. */
  readonly secret: (tenant: string, name: string, origin: string) => Promise<string>;
  /** Payloads that the log keeps by reference. */
  readonly blob: (
    tenant: string,
    sha256: string,
  ) => Promise<{ readonly bytes: Uint8Array; readonly mediaType: string } | null>;
  readonly clock: Clock;
}
