// The commit envelope: how a decision becomes stored bytes and those become events again, and the hash chain over them.
//
// Invariants:
//   V1. `hash` = SHA-256 of the JSON array [prev, tenant, thread, version, count, inputs, at, nonce, trace, kid] in
//       exactly this order, a line feed, and the stored body: the chain covers the stored bytes, so contents may be
//       made unreadable without breaking it.
//   V2. `body` is JSON of `{events, effects}`; sealing the same decision again gives the same body.
//   V3. A commit with `kid` is one whose content was erased: as many events as it had, each of which says so.
import { readJson } from '@dormouse/json';
import { hash as digest } from 'node:crypto';
import type { Commit, ThreadKey } from '@dormouse/ports';
import type { RecordedEvent, ThreadEffect } from '@dormouse/thread';

export interface CommitBody {
  readonly events: readonly RecordedEvent[];
  readonly effects: readonly ThreadEffect[];
}

export interface Unsealed extends CommitBody, Pick<Commit, 'version' | 'inputs' | 'at' | 'nonce' | 'trace' | 'prev'> {
  readonly key: ThreadKey;
}

export function sealCommit(decision: Unsealed): Commit {
  const { key, version, inputs, at, nonce, trace, prev } = decision;
  const body = JSON.stringify({ events: decision.events, effects: decision.effects });
  const { tenant, thread } = key;
  const count = decision.events.length;
  const hash = chainHash({ tenant, thread, version, count, inputs, at, nonce, trace, kid: null, prev, body });
  return { v: 1, tenant, thread, version, count, inputs, at, nonce, trace, kid: null, prev, hash, body };
}

export function openCommit(commit: Pick<Commit, 'kid' | 'count' | 'body'>): CommitBody {
  if (commit.kid !== null) return { events: Array.from({ length: commit.count }, () => erasedEvent), effects: [] }; // (V3)
  return readJson(commit.body) as CommitBody;
}

const erasedEvent: RecordedEvent = {
  ...{ type: 'ContentErased', scope: 'event', certificate: null },
  ...{ turnId: '', cause: { kind: 'operator', id: '' } },
};

/** Also of a commit of another installation, whose tenant is none of ours. */
export function chainHash(commit: Omit<Commit, 'v' | 'hash' | 'tenant'> & { readonly tenant: string }): string {
  const { prev, tenant, thread, version, count, inputs, at, nonce, trace, kid, body } = commit;
  return digest(
    'sha256',
    `${JSON.stringify([prev, tenant, thread, version, count, inputs, at, nonce, trace, kid])}\n${body}`,
  );
}
