/** Owns: every option of a tool server, and its default. */
import type { ToolInvocation } from '@dormouse/protocol';
import type { AuthenticationOptions } from '../http/authentication.ts';
import type { MigrateHook } from '../call/migration.ts';
import type { DeliverySettings } from '../outbox/outbox.ts';
import type { Route } from '../http/route.ts';
import type { Tool } from './tool.ts';

const limits = {
  callsRunningMax: 1_000,
  invocationsPerSecond: 1_000,
  invocationsBurst: 2_000,
  noticesPerSecond: 1_000,
  noticesBurst: 2_000,
  /** How long head and body of a request may take to arrive; its answer has no limit. */
  requestMsMax: 60_000,
  /** Of all bodies that are being read. */
  bodiesBytesMax: 64 * 1024 * 1024,
  /**
   * Requests of one peer whose head or body has been unfinished for more than a second. Without a bound where there is
   * a `publicUrl`: behind a proxy all requests come from one peer.
   */
  unfinishedPerPeerMax: 256,
  eventsPerSecond: 10,
  eventsBurst: 50,
  eventsWaitingMax: 1_000,
  subscriptionsPerThreadMax: 100,
  subscriptionMsMax: 365 * 86_400_000,
  /** A thread without a sign of life for so long is forgotten. T37 */
  threadMsMax: 90 * 86_400_000,
  /** How long a login may take. T41 */
  loginMsMax: 86_400_000,
  migrateMsMax: 300_000,
  /** How long `close` waits for messages to be sent. */
  closeMsMax: 5_000,
};

export type ServerLimits = Readonly<typeof limits>;

export const serverLimits: ServerLimits = limits;

export interface ServeOptions extends ToolServerOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  /** Default 127.0.0.1. An address that other machines reach needs an `auth`. */
  readonly host?: string;
}

export interface ToolServerOptions {
  readonly name: string;
  readonly description?: string;
  readonly tools: readonly Tool[];
  /** The address that runtimes and browsers use, where it is not the one listened on. No slash at its end. */
  readonly publicUrl?: string;
  /** Where everything durable is kept; needs Node 22.16. Absent: in memory, lost at a restart. */
  readonly dataDir?: string;
  /** 32 bytes. Default: made in the data directory, in a file only its owner reads. T32 */
  readonly encryptionKey?: Uint8Array;
  /** Absent: every caller that reaches the port is accepted. */
  readonly auth?: AuthenticationOptions;
  /** `toolset_version` of the manifest. */
  readonly version?: string;
  /** Answer 409 to calls that were decided on another `version`. T48 */
  readonly refuseStale?: boolean;
  readonly routes?: readonly Route[];
  /** Moves state of your own. Makes the manifest say `needsMigration`, and serves `/migrate`. T45 */
  readonly migrate?: MigrateHook;
  /**
   * 32 bytes that this server shares with its destinations: `/migrate` hands the family's subscriptions and memory over
   * to the destination, which needs the same key; `migrate`, if there is one, runs first. Logins are not moved. T45
   */
  readonly handoverKey?: Uint8Array;
  /** Origins that callbacks may go to, such as `https://agent.example.com`. Absent: any. */
  readonly callbackOrigins?: readonly string[];
  /** An HTTP status instead of an acknowledgement, for a call that should be sent again (503). */
  readonly admit?: (invocation: ToolInvocation) => number | null;
  /** Processes every text before it leaves. T22 */
  readonly redact?: (text: string) => string;
  readonly delivery?: Partial<DeliverySettings>;
  readonly limits?: Partial<ServerLimits>;
  /** One record, without secrets; an error's stack is on lines of its own. Default: standard error. */
  readonly log?: (line: string) => void;
}
