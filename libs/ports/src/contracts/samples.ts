// Values that the contract suites store: the smallest well-formed ones. A store reads none of them.
import { tenantId, type Commit, type ThreadKey, type TenantId } from '../index.ts';
import type { UserMessage } from '@dormouse/thread';

let threads = 0;

/** A tenant that no other test uses. */
export const freshTenant = (): TenantId => tenantId(`acme-${Math.random().toString(36).slice(2)}`);

/** A thread that no other test uses. */
export function freshKey(tenant = tenantId('acme')): ThreadKey {
  threads += 1;
  return { tenant, thread: `thr_${threads}_${Math.random().toString(36).slice(2, 10)}` };
}

export function commitOf(key: ThreadKey, version: number, changes: Partial<Commit> = {}): Commit {
  const nonce = changes.nonce ?? `nonce-${Math.random().toString(36).slice(2)}`;
  return {
    v: 1,
    ...key,
    version,
    count: 1,
    inputs: [`in-${version}-${nonce}`],
    at: 1_700_000_000_000 + version,
    nonce,
    trace: null,
    kid: null,
    prev: version === 0 ? '' : 'a'.repeat(64),
    hash: 'b'.repeat(64),
    body: JSON.stringify({ events: [{ type: 'Something', version, text: 'żółw 🐢 \u0000 "' }], effects: [] }),
    ...changes,
  };
}

export function messageOf(id: string): UserMessage {
  return { kind: 'UserMessage', id, messageId: `msg_${id}`, content: [{ type: 'text', text: `hello from ${id}` }] };
}
