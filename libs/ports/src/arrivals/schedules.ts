// Schedules of a tenant: at each time of a cron line a thread is woken or opened.
//
// Contract (contracts/schedules.contract.ts):
//   C1. A name of a tenant has one schedule at most: of several inserts at once, one is made.
//   C2. A schedule is replaced only where it is what was read: of several changes at once, one is made.
//   C3. Due are those with `lookAt <= now`, the earliest first; one without `lookAt` never is.
//   C4. A list is ordered by name, and its pages, one after the other, are the list.
import type { Schedule, TenantId } from '@dormouse/thread';
import type { Page, PageRequest } from '../registry/registry.ts';

/** Its message is a text with `{{/pointer}}`. */
export interface TenantSchedule extends Schedule {
  readonly tenant: TenantId;
  readonly id: string;
  readonly name: string;
  /** The name of the agent whose threads are opened. */
  readonly agent: string;
  /** The thread that is woken; null: each time opens one. */
  readonly externalId: string | null;
  /** Milliseconds since the epoch, as all times here. */
  readonly createdAt: number;
  /** Null when it never comes again. */
  readonly nextAt: number | null;
  /** When it is looked at next. */
  readonly lookAt: number | null;
  /** A time that has come, and whose message is not known to be there. */
  readonly firing: { readonly scheduledFor: number; readonly missed: number } | null;
  readonly lastFiredAt: number | null;
  readonly lastScheduledFor: number | null;
  /** Times that have led to a message. */
  readonly fired: number;
  /** Times that came and led to none. */
  readonly skipped: number;
}

export interface Schedules {
  /** False when the name is taken. (C1) Resolves when durable. */
  insert(schedule: TenantSchedule): Promise<boolean>;
  get(tenant: TenantId, nameOrId: string): Promise<TenantSchedule | null>;
  list(tenant: TenantId, page: PageRequest): Promise<Page<TenantSchedule>>;
  /** Only where `seen` is what is stored; false otherwise. (C2) */
  replace(schedule: TenantSchedule, seen: TenantSchedule): Promise<boolean>;
  remove(tenant: TenantId, name: string): Promise<boolean>;
  /** Of all tenants, except for those in `without`. (C3) */
  due(now: number, limit: number, without?: readonly TenantId[]): Promise<readonly TenantSchedule[]>;
}
