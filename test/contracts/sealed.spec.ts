// Stores whose contents are sealed pass the same contracts as those below them, and hold nothing in the clear.
import { createSecretKey } from 'node:crypto';
import { createMemoryWorld, type Gate } from '@dormouse/adapter-memory';
import { openSqlite } from '@dormouse/adapter-sqlite';
import { contentCipher, createSealer } from '@dormouse/host';
import { type Delta, Fault, type Hint, type Stores } from '@dormouse/ports';
import {
  blobsContract,
  commitOf,
  freshKey,
  idempotencyKeysContract,
  parkedThreadsContract,
  snapshotsContract,
  tenantLogContract,
  threadDirectoryContract,
  threadLogContract,
  usageContract,
  viewsContract,
} from '@dormouse/ports/contracts';
import { createFamilyKeyring, sealedStores } from '@dormouse/runtime';
import { describe, expect, it } from 'vitest';
import { removeScratchDirectories, scratchDirectory } from './scratch-directory.ts';

removeScratchDirectories();

const clock = { now: () => Date.now(), sleep: () => Promise.resolve(), alarm: () => () => {} };
const master = { id: 'one', key: createSecretKey(Buffer.alloc(32, 7)) };
const sealer = createSealer({ all: [master], inUse: () => master });

function sealed(stores: Stores): Stores {
  const { familyKeys } = stores;
  const keyring = createFamilyKeyring({ familyKeys, sealer, cipher: contentCipher, clock, keptMs: 30_000 });
  return sealedStores(stores, { keyring, isFeedStored: true });
}

type Living<Part> = Part & { close(): Promise<void>; reopen(): Promise<Living<Part>> };

function onDisk<Part>(part: (stores: Stores) => Part): () => Promise<Living<Part>> {
  const open = async (directory: string): Promise<Living<Part>> => {
    const stores = await openSqlite({ directory });
    const reopen = async (): Promise<Living<Part>> => {
      await stores.close();
      return open(directory);
    };
    return { ...part(sealed(stores)), close: () => stores.close(), reopen };
  };
  return async () => open(await scratchDirectory());
}

function inMemory<Part>(part: (stores: Stores) => Part): () => Promise<Part & { close(): Promise<void> }> {
  return async () => {
    let isClosed = false;
    const pass: Gate['pass'] = async (_node, _operation, apply) => {
      if (isClosed) throw new Fault('UNAVAILABLE', 'this process has ended');
      return apply();
    };
    const world = createMemoryWorld({ clock, gate: { pass } });
    return {
      ...part(sealed(world.ports('one'))),
      close: async () => {
        isClosed = true;
      },
    };
  };
}

for (const [name, over] of [
  ['sealed sqlite', onDisk],
  ['sealed memory', inMemory],
] as const) {
  threadLogContract(
    name,
    over(({ log }) => ({ log })),
    { seals: true },
  );
  tenantLogContract(
    name,
    over(({ log, tenantLog }) => ({ log, tenantLog })),
  );
  snapshotsContract(
    name,
    over(({ snapshots }) => ({ port: snapshots })),
  );
  viewsContract(
    name,
    over(({ views }) => ({ port: views })),
  );
  blobsContract(
    name,
    over(({ blobs }) => ({ port: blobs })),
  );
  threadDirectoryContract(
    name,
    over(({ directory }) => ({ port: directory })),
  );
  usageContract(
    name,
    over(({ directory }) => ({ port: directory })),
  );
  parkedThreadsContract(
    name,
    over(({ parked }) => ({ port: parked })),
  );
  idempotencyKeysContract(
    name,
    over(({ idempotency }) => ({ port: idempotency })),
  );
}

describe('a sealed feed', () => {
  const delta: Delta = { completionId: 'cmp_1', attempt: 1, offset: 0, kind: 'text', index: 0, text: 'canary' };

  async function rig() {
    const raw = createMemoryWorld({ clock }).ports('one');
    const heard: Hint[] = [];
    const key = freshKey();
    const stores = sealed(raw);
    return { raw, heard, key, stores };
  }

  it('H1 publishes nothing of a thread whose key it does not have', async () => {
    const { raw, heard, key, stores } = await rig();
    await raw.feed.subscribe(key, (hint) => heard.push(hint));
    stores.feed.publish(key, { hint: 'delta', delta });
    await new Promise(setImmediate);
    expect(heard).toEqual([]);
  });

  it('H2 gives its own subscribers what was said, and the feed below it a sealed text', async () => {
    const { raw, heard, key, stores } = await rig();
    const below: Hint[] = [];
    await stores.log.append([{ commit: commitOf(key, 0), owes: false }]);
    await raw.feed.subscribe(key, (hint) => below.push(hint));
    await stores.feed.subscribe(key, (hint) => heard.push(hint));
    stores.feed.publish(key, { hint: 'delta', delta });
    await new Promise(setImmediate);
    expect(heard).toEqual([{ hint: 'delta', delta }]);
    expect(below).toHaveLength(1);
    expect(JSON.stringify(below)).not.toContain('canary');
    expect(await stores.feed.soFar(key)).toEqual([delta]);
    expect(JSON.stringify(await raw.feed.soFar(key))).not.toContain('canary');
  });
});
