// Values that a store may hold but not read: sealed for one owner, opened only under the installation's key.
import type { TenantId } from '@dormouse/thread';

export interface SealOwner {
  readonly tenant: TenantId;
  /** What it belongs to: a secret's name, or `<kind>:<thread>:<call>`. */
  readonly name: string;
}

export interface Sealer {
  seal(owner: SealOwner, value: string): string;
  /** @throws when it was sealed for another owner, or altered. */
  open(owner: SealOwner, sealed: string): string;
}

/** A sealer whose key changes over time. */
export interface RotatingSealer extends Sealer {
  /** Whether the key in use has sealed it; false for one that should be sealed again. */
  isInUse(sealed: string): boolean;
}

/** Owner of the URL that receives a choice's answer, and of a login's URL. */
export const answerOwner = (tenant: TenantId, thread: string, toolCallId: string): SealOwner => ({
  tenant,
  name: `answer:${thread}:${toolCallId}`,
});
export const loginOwner = (tenant: TenantId, thread: string, toolCallId: string): SealOwner => ({
  tenant,
  name: `login:${thread}:${toolCallId}`,
});
/** Owner of the token in a source's URL. */
export const sourceOwner = ({ tenant, id }: { readonly tenant: TenantId; readonly id: string }): SealOwner => ({
  tenant,
  name: `source:${id}`,
});
/** Owner of what a user has for a tool server. */
export const credentialOwner = (tenant: TenantId, userId: string, toolServer: string): SealOwner => ({
  tenant,
  name: `credential:${JSON.stringify([userId, toolServer])}`,
});
