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
  readonly close: () => Promise<void>;
}
