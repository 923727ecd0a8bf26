// What customers are told: their endpoints, every delivery to one, and how far the log was read for them.
//
// Contract (contracts/webhooks.contract.ts):
//   W1. An endpoint is replaced only where it is what was read: of several changes at once, one is made.
//   W2. A delivery is stored once under its id: inserting it again changes nothing, whatever has become of it.
//   W3. An attempt is recorded only where the delivery waits and has as many tries as the caller saw: of two senders of
//       one attempt, one is recorded. A delivery that was begun again meanwhile is another matter.
//   W4. A reader is held by one holder at a time, until its time is over or it lets it go; only the holder moves the
//       place. Counting a change up makes the reader, if there is none, at the place that is given.
//   W5. Removing an endpoint removes its deliveries; removing a reader fails when a change was counted meanwhile.
import type { TenantId } from '@dormouse/thread';
import type { Page, PageRequest } from '../../registry/registry.ts';

/** What an endpoint may ask for. */
export const webhookEvents = [
  'thread.waiting',
  'thread.idle',
  'thread.failed',
  'thread.closed',
  'choice.requested',
  'oauth.requested',
  'child.opened',
  'budget.exceeded',
] as const;

export type WebhookEvent = (typeof webhookEvents)[number];

/** Of a delivery that a client asked for, to see whether its endpoint works. */
export const testEvent = 'webhook.test';

/** All that is named must hold. */
export interface WebhookFilter {
  /** Names. */
  readonly agents?: readonly string[];
  /** Labels of the thread, as they are when the event is read. */
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface WebhookProblem {
  readonly code: string;
  readonly detail: string;
  /** Milliseconds since the epoch, as all times here. */
  readonly since: number;
}

export interface Webhook {
  readonly tenant: TenantId;
  readonly id: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly filter: WebhookFilter | null;
  readonly state: 'active' | 'disabled';
  /** The signing secret, sealed for `webhookOwner`. */
  readonly sealed: string;
  /** The secret before it, which signs too until a time; null for none. */
  readonly before: { readonly sealed: string; readonly until: number } | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Commits of earlier times are not told to it. */
  readonly activeSince: number;
  /** The first failure without a success since; null for none. */
  readonly failingSince: number | null;
  /** Why it is disabled, where the runtime did it. */
  readonly problem: WebhookProblem | null;
}

/** An endpoint whose every attempt has failed for this long is disabled. */
export const webhookFailingMsMax = 5 * 86_400_000;

/** Owner of a signing secret (sealer.ts). */
export const webhookOwner = ({ tenant, id }: Pick<Webhook, 'tenant' | 'id'>) => ({ tenant, name: `webhook:${id}` });

export interface WebhookAttempt {
  /** When it began. */
  readonly at: number;
  /** The HTTP status, or why there was none: `OUTBOUND_FORBIDDEN`, `TIMEOUT`, `UNREACHABLE`. */
  readonly status: number | string;
  readonly ms: number;
}

export const deliveryStates = ['pending', 'delivered', 'failed', 'aborted'] as const;

export type DeliveryState = (typeof deliveryStates)[number];

export interface WebhookDelivery {
  readonly tenant: TenantId;
  /** Id of its endpoint. */
  readonly webhook: string;
  /** Sorts by the time of its event. */
  readonly id: string;
  readonly event: WebhookEvent | typeof testEvent;
  /** JSON text: the same bytes in every attempt. */
  readonly body: string;
  readonly createdAt: number;
  readonly state: DeliveryState;
  /** The last `attemptsKept` of them. */
  readonly attempts: readonly WebhookAttempt[];
  /** Since it was made, or begun again. */
  readonly tries: number;
  /** Null unless it is pending. */
  readonly nextAt: number | null;
}

export const attemptsKept = 50;
/** A delivery may be deleted when it is older. */
export const deliveriesKeptMs = 30 * 86_400_000;

export type DeliveryName = Pick<WebhookDelivery, 'tenant' | 'webhook' | 'id'>;

/** What has become of a delivery by an attempt. */
export type AttemptOutcome = Pick<WebhookDelivery, 'state' | 'nextAt'>;

/** When the next delivery of an endpoint is due. */
export interface EndpointDue {
  readonly webhook: string;
  readonly nextAt: number;
}

/** How far the log of a tenant was read for its endpoints. */
export interface WebhookReader {
  readonly tenant: TenantId;
  /** Of the tenant's log (tenant-log.ts). */
  readonly place: string;
  /** Counts changes that its holder must know of: of endpoints, and of deliveries that were begun again. */
  readonly changes: number;
  /** Until when it is held; a time that is over where it is not. */
  readonly heldUntil: number;
}

export interface Webhooks {
  /** False when the id is taken. Resolves when durable, as all that writes here. */
  insert(webhook: Webhook): Promise<boolean>;
  get(tenant: TenantId, id: string): Promise<Webhook | null>;
  /** By id, oldest first. */
  list(tenant: TenantId, page: PageRequest): Promise<Page<Webhook>>;
  count(tenant: TenantId): Promise<number>;
  /** Only where `seen` is what is stored; false otherwise. (W1) */
  replace(webhook: Webhook, seen: Webhook): Promise<boolean>;
  /** False when there is none. (W5) */
  remove(tenant: TenantId, id: string): Promise<boolean>;
}

export interface WebhookDeliveries {
  /** How many were not there before. (W2) */
  insert(deliveries: readonly WebhookDelivery[]): Promise<number>;
  get(name: DeliveryName): Promise<WebhookDelivery | null>;
  /** Newest first. */
  list(tenant: TenantId, webhook: string, page: PageRequest): Promise<Page<WebhookDelivery>>;
  /** Those that wait and are due, in the order of their times. */
  due(tenant: TenantId, webhook: string, now: number, limit: number): Promise<readonly WebhookDelivery[]>;
  /** The earliest that waits, of each endpoint that has one. */
  waiting(tenant: TenantId): Promise<readonly EndpointDue[]>;
  /** Adds the attempt to what was seen; false when it is another matter by now. (W3) */
  record(seen: WebhookDelivery, attempt: WebhookAttempt, outcome: AttemptOutcome): Promise<boolean>;
  /** Begins it again, due at a time; one that waits is due then, and keeps its tries. False when it is not there. */
  again(name: DeliveryName, at: number): Promise<boolean>;
  /** Begins all again that failed or were aborted, and were made at `since` or later. Answers how many. */
  recover(tenant: TenantId, webhook: string, since: number, at: number): Promise<number>;
  /** All that wait have failed. Answers how many. */
  fail(tenant: TenantId, webhook: string): Promise<number>;
}

export interface WebhookReaders {
  /**
   * Counts a change up. A reader that is not there is made at the place; null makes none, and answers false. (W4)
   */
  changed(tenant: TenantId, place: string | null): Promise<boolean>;
  /** All of the installation, by tenant, behind `after`. */
  list(after: TenantId | null, limit: number): Promise<readonly WebhookReader[]>;
  get(tenant: TenantId): Promise<WebhookReader | null>;
  /** Takes it, or takes it for longer. False when another holds it, or it is not there. */
  hold(tenant: TenantId, holder: string, now: number, until: number): Promise<boolean>;
  /** Holds all that the holder has until another time. */
  renew(holder: string, until: number): Promise<void>;
  /** Lets go of all that the holder has. */
  release(holder: string): Promise<void>;
  /** False when the holder does not hold it. */
  advance(tenant: TenantId, holder: string, place: string): Promise<boolean>;
  /** False when changes were counted since. (W5) */
  remove(reader: Pick<WebhookReader, 'tenant' | 'changes'>): Promise<boolean>;
}
