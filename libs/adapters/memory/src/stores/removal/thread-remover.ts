// Removes threads from a memory world. Port: ports/stores/removal/thread-remover.ts.
import {
  noTenant,
  type Removal,
  type Removed,
  type ThreadKey,
  type ThreadRemover,
  type TenantId,
} from '@dormouse/ports';
import type { BlobStore } from '../blobs.ts';
import type { DurablePart } from '../../durable-part.ts';
import type { Passage } from '../../gate.ts';
import { forgetWaits } from '../../log/thread-directory.ts';
import { nameOf } from '../../log/thread-log.ts';

export function createThreadRemover(durable: DurablePart, passage: Passage): ThreadRemover {
  return {
    remove: (tenant, threads, what) =>
      passage.write('remover.remove', `${tenant}:${threads.join(',')}`, () => {
        let removed: Removed = { rows: 0, bytes: 0 };
        for (const thread of threads) removed = sum(removed, removeOne(durable, { tenant, thread }, what));
        return removed;
      }),
  };
}

const sum = (one: Removed, other: Removed): Removed => ({
  rows: one.rows + other.rows,
  bytes: one.bytes + other.bytes,
});

function removeOne(durable: DurablePart, key: ThreadKey, what: Removal): Removed {
  const copies = removeCopies(durable, key);
  const rows = copies.rows + unlabel(durable, key);
  return what === 'copies' ? { ...copies, rows } : sum({ ...copies, rows }, removeRest(durable, key));
}

function removeCopies(durable: DurablePart, key: ThreadKey): Removed {
  const { parked } = durable;
  const named = [durable.snapshots, durable.timers, durable.views, durable.logins, parked.threads, parked.inputs];
  let rows = removeNamed(named as readonly Map<string, unknown>[], key);
  for (const [name, question] of durable.inbox)
    if (question.tenant === key.tenant && question.thread === key.thread && durable.inbox.delete(name)) rows += 1;
  for (const [name, { answer }] of durable.idempotency)
    if (isOf(name, key.tenant) && answer?.body.includes(`"${key.thread}"`) && durable.idempotency.delete(name))
      rows += 1;
  for (const [name, entry] of durable.ledger.entries)
    if (isNamed(name, key) && entry.detail !== null) {
      durable.ledger.entries.set(name, { ...entry, detail: null });
      rows += 1;
    }
  const blobs = removeBlobs(durable.blobs, key);
  return { rows: rows + blobs.rows, bytes: blobs.bytes };
}

function removeBlobs(blobs: BlobStore, { tenant, thread }: ThreadKey): Removed {
  let removed: Removed = { rows: 0, bytes: 0 };
  for (const [name, { bytes, threads }] of blobs) {
    if (!name.startsWith(`${tenant}:`) || !threads.delete(thread)) continue;
    const goes = threads.size === 0 && blobs.delete(name);
    removed = sum(removed, { rows: 1, bytes: goes ? bytes.length : 0 });
  }
  return removed;
}

/** The labels of the row. */
function unlabel({ directory }: DurablePart, key: ThreadKey): number {
  const row = directory.get(nameOf(key));
  if (row === undefined) return 0;
  const { firstWords, waitingOn, ...rest } = row;
  const labels = [
    row.title,
    row.userId,
    row.externalId,
    row.opening,
    firstWords,
    waitingOn,
    ...Object.keys(row.metadata),
  ];
  if (labels.every((label) => label === null || label === undefined)) return 0;
  const none = { title: null, userId: null, externalId: null, opening: null, metadata: {} };
  directory.set(nameOf(key), { ...rest, ...none });
  return 1;
}

function removeRest(durable: DurablePart, key: ThreadKey): Removed {
  const { log, ledger, registry, callbackCounts, directory, familyKeys } = durable;
  const commits = log.commits(key);
  const bytes = commits.reduce((size, { body }) => size + body.length, 0);
  const named = [
    ledger.entries,
    ledger.attempts,
    callbackCounts,
    registry.held.threads,
    log.owed,
    log.threads,
    familyKeys,
    directory,
  ];
  const rows = commits.length + removeNamed(named as readonly Map<string, unknown>[], key);
  forgetWaits(directory, key);
  for (const [nth, commit] of log.arrived.entries())
    if (commit.tenant === key.tenant && commit.thread === key.thread)
      log.arrived[nth] = { ...commit, tenant: noTenant, body: '' }; // the places of the others stay
  return { rows, bytes };
}

function removeNamed(maps: readonly Map<string, unknown>[], key: ThreadKey): number {
  let rows = 0;
  for (const map of maps) for (const name of map.keys()) if (isNamed(name, key) && map.delete(name)) rows += 1;
  return rows;
}

/** Names are `tenant:thread`, with more behind a colon, or the JSON of a list that begins with both. */
const isNamed = (name: string, { tenant, thread }: ThreadKey): boolean =>
  name === `${tenant}:${thread}` ||
  name.startsWith(`${tenant}:${thread}:`) ||
  name.startsWith(`${JSON.stringify([tenant, thread]).slice(0, -1)},`);

const isOf = (name: string, tenant: TenantId): boolean => name.startsWith(`[${JSON.stringify(tenant)},`);
