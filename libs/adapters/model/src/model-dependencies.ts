// What the providers need from outside.
import type { Clock } from '@dormouse/ports';

export interface ModelDependencies {
  /** Sends its requests through the outbound guard. */
  readonly fetch: typeof globalThis.fetch;
  /** The secret's value, when it may be used for `origin`. */
  readonly secret: (tenant: string, name: string, origin: string) => Promise<string>;
  /** Reads payloads that the log keeps by reference. */
  readonly blob: (
    tenant: string,
    sha256: string,
  ) => Promise<{ readonly bytes: Uint8Array; readonly mediaType: string } | null>;
  readonly clock: Clock;
}
