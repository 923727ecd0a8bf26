// The stores of a process with every content sealed: no store below this line holds a message, an argument, a result, a
// view or a payload in the clear. The one place where that is decided; `docs/reference/where-contents-are.md` lists
// what the stores have.
import type { Stores } from '@dormouse/ports';
import { createContentSeal } from './content-seal.ts';
import type { FamilyKeyring } from './family-keyring.ts';
import { sealedAnswers } from './sealed-answers.ts';
import { sealedBlobs } from './sealed-blobs.ts';
import { sealedSnapshots, sealedViews } from './sealed-copies.ts';
import { sealedDirectory } from './sealed-directory.ts';
import { sealedFeed } from './sealed-feed.ts';
import { createSealedLog } from './sealed-log.ts';
import { sealedParking } from './sealed-parking.ts';
import { createThreadFamily } from './thread-family.ts';

export interface SealedStoresDeps {
  readonly keyring: FamilyKeyring;
  /** Whether the feed stores what passes. */
  readonly isFeedStored: boolean;
}

export function sealedStores<Given extends Stores>(stores: Given, { keyring, isFeedStored }: SealedStoresDeps): Given {
  const families = createThreadFamily(stores);
  const deps = { seal: createContentSeal(keyring), families };
  return {
    ...stores,
    ...createSealedLog({ log: stores.log, tenantLog: stores.tenantLog, keyring, families }),
    snapshots: sealedSnapshots(stores.snapshots, deps),
    views: sealedViews(stores.views, deps),
    blobs: sealedBlobs(stores.blobs, deps),
    directory: sealedDirectory(stores.directory, deps),
    parked: sealedParking(stores.parked, deps),
    idempotency: sealedAnswers(stores.idempotency, deps),
    feed: isFeedStored ? sealedFeed(stores.feed, deps) : stores.feed,
  };
}
