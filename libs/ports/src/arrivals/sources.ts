// Sources: what others may send to a tenant, signed, and what becomes of it. And what has been delivered.
//
// Contract (contracts/sources.contract.ts):
//   S1. A name of a tenant has one source at most, and a token has one: of several inserts at once, one is made.
//   S2. A list is ordered by name, and its pages, one after the other, are the list.
//   S3. A delivery belongs to one thread: the first claim stays, whichever process has made it, for `claimsKeptMs` at
//       least. An older one may be deleted.
import type { TenantId } from '@dormouse/thread';
import type { Page, PageRequest } from '../registry/registry.ts';

/** How deliveries are signed, and where they have their ids. */
export const sourceKinds = ['github', 'stripe', 'slack', 'standard'] as const;
export type SourceKind = (typeof sourceKinds)[number];

export interface Source {
  readonly tenant: TenantId;
  readonly id: string;
  readonly name: string;
  readonly kind: SourceKind;
  /** The name of the secret that signatures are made with. */
  readonly secret: string;
  /** The name of the agent whose threads are opened. */
  readonly agent: string;
  /** A JSON Pointer into the body, or `header:NAME`: its value is the thread's external id. */
  readonly key: string;
  /** Text with `{{/pointer}}`. */
  readonly message: string;
  readonly createdAt: number;
  /** Hex SHA-256 of the token in its URL. */
  readonly tokenSha256: string;
  /** The token, sealed: an administrator may see the URL again. */
  readonly sealedToken: string;
}

export interface Sources {
  /** False when the name, or the token, is taken. (S1) Resolves when durable. */
  insert(source: Source): Promise<boolean>;
  get(tenant: TenantId, nameOrId: string): Promise<Source | null>;
  byToken(tokenSha256: string): Promise<Source | null>;
  list(tenant: TenantId, page: PageRequest): Promise<Page<Source>>;
  /** Only where `seen` is what is stored; false otherwise. Name, id and token stay. */
  replace(source: Source, seen: Source): Promise<boolean>;
  remove(tenant: TenantId, name: string): Promise<boolean>;
}

export interface Delivery {
  readonly tenant: TenantId;
  /** A function of the source and of its sender's id, or of a schedule and the time. */
  readonly id: string;
  /** The thread that it woke or opened. */
  readonly thread: string;
  readonly at: number;
}

/** More than any sender goes on to send a delivery again. */
export const claimsKeptMs = 30 * 86_400_000;

export interface Deliveries {
  find(tenant: TenantId, id: string): Promise<Delivery | null>;
  /** The delivery as it is stored: this one, or that of the first claim. (S3) Resolves when durable. */
  claim(delivery: Delivery): Promise<{ readonly delivery: Delivery; readonly isFirst: boolean }>;
}
