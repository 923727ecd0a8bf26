// Checks a thread's log from outside: an independent implementation of the hash chain, written from its description, so
// that a log is not judged by the code that wrote it.
//
// The chain: `hash` is the SHA-256, in lower-case hex, of the UTF-8 JSON array
//   [prev, tenant, thread, version, count, inputs, at, nonce, trace, kid]
// without spaces, a line feed, and the body as it is stored; `prev` is the hash of the commit before, '' for the first.
// `version` counts the events before a commit.
//
// Invariants:
//   H1. Any changed, missing, repeated or reordered commit is found; a log cut off at its end is not, unless the head's
//       hash is known from elsewhere.
//   H2. Contents may be unreadable (`kid` is set): the chain is over stored bytes.
import type { components } from './generated/openapi.ts';
import { eventsOf } from './commit-content.ts';
import { hexDigest } from './hex-digest.ts';

export type Commit = components['schemas']['Commit'];

export type Verdict =
  | { readonly ok: true; readonly commits: number; readonly events: number; readonly head: string }
  /** `index` counts commits from 0. */
  | { readonly ok: false; readonly index: number; readonly version: number; readonly reason: string };

interface Seen {
  readonly commits: number;
  readonly events: number;
  readonly hash: string;
  readonly at: number;
  readonly thread: string | null;
  readonly inputs: Set<string>;
}

/** A chain as far as it has been checked. */
export interface ChainCheck {
  readonly commits: number;
  readonly events: number;
  /** Hash of the last commit, '' for none. */
  readonly head: string;
  /** The problem of the next commit, or null; not to be called again after a problem. */
  take(commit: Commit): Promise<string | null>;
}

export function createChainCheck(): ChainCheck {
  let seen: Seen = { commits: 0, events: 0, hash: '', at: 0, thread: null, inputs: new Set() };
  return {
    get commits() {
      return seen.commits;
    },
    get events() {
      return seen.events;
    },
    get head() {
      return seen.hash;
    },
    async take(commit) {
      const reason = complaint(commit, seen) ?? (await hashComplaint(commit));
      if (reason !== null) return reason;
      for (const input of commit.inputs) seen.inputs.add(input);
      const { commits, events, inputs } = seen;
      const { hash, at, count } = commit;
      seen = { commits: commits + 1, events: events + count, hash, at, thread: nameOf(commit), inputs };
      return null;
    },
  };
}

export async function verifyChain(commits: AsyncIterable<Commit> | Iterable<Commit>): Promise<Verdict> {
  const chain = createChainCheck();
  for await (const commit of commits) {
    const reason = await chain.take(commit);
    if (reason !== null) return { ok: false, index: chain.commits, version: commit.version, reason };
  }
  return { ok: true, commits: chain.commits, events: chain.events, head: chain.head };
}

const nameOf = (commit: Commit): string => JSON.stringify([commit.tenant, commit.thread]);

function complaint(commit: Commit, seen: Seen): string | null {
  if (commit.v !== 1) return `envelope version ${String(commit.v)} is unknown to this check`;
  if (seen.thread !== null && nameOf(commit) !== seen.thread) return 'belongs to another thread';
  if (commit.version !== seen.events) return `begins at version ${commit.version}, expected ${seen.events}`;
  if (commit.prev !== seen.hash)
    return seen.commits === 0
      ? 'is not the first commit: it has a predecessor'
      : 'does not follow the commit before it: `prev` is another hash';
  if (commit.count < 1) return 'has no event';
  if (commit.inputs.length === 0) return 'names no input';
  if (commit.at < seen.at) return 'was decided before the commit before it';
  const repeated = commit.inputs.find((input) => seen.inputs.has(input));
  if (repeated !== undefined) return `decides the input ${repeated} a second time`;
  return contentComplaint(commit);
}

function contentComplaint(commit: Commit): string | null {
  if (commit.kid !== null) return null; // (H2)
  const events = eventsOf(commit);
  if (events?.length === commit.count) return null;
  return `says it has ${commit.count} events, its body has ${events === null ? 'none that can be read' : events.length}`;
}

async function hashComplaint(commit: Commit): Promise<string | null> {
  const { prev, tenant, thread, version, count, inputs, at, nonce, trace, kid, body } = commit;
  const bytes = new TextEncoder().encode(
    `${JSON.stringify([prev, tenant, thread, version, count, inputs, at, nonce, trace, kid])}\n${body}`,
  );
  return (await hexDigest(bytes)) === commit.hash ? null : 'was changed: its hash does not fit its contents';
}
