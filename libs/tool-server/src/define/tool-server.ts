/** Owns: what a running tool server offers to the program that started it, and to its routes. */
import type { Subscription } from '../call/subscription.ts';

export interface ToolServer {
  /** Base URL under which a tool server is registered. */
  readonly url: string;
  /** Where the manifest sends invocations. */
  readonly endpoint: string;
  /** Live subscriptions, of one tool or of all. */
  readonly subscriptions: (tool?: string) => readonly Subscription[];
  /** A random secret by this name, the same after a restart. */
  readonly secret: (name: string) => string;
  /** Messages that still have to be sent. */
  readonly waitingMessages: () => number;
  /** Runs every minute: expiry of subscriptions, logins, silent threads. */
  readonly sweep: () => void;
  /**
   * Writes a copy of its data directory, as of this moment, into an existing and empty directory; nothing is answered
   * while it is written. @throws Error for a server without `dataDir`.
   */
  readonly copyInto: (directory: string) => void;
  readonly close: () => Promise<void>;
}
