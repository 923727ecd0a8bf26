// The MongoDB adapter passes the contract of every store, on a real server, each suite in a database of its own.
import { type MongoStores, openMongo } from '@dormouse/adapter-mongo';
import type { ThreadKey } from '@dormouse/ports';
import { tenantLogContract, threadLogContract, type TenantLogUnderTest } from '@dormouse/ports/contracts';
import { randomBytes } from 'node:crypto';
import { type Living, storeContracts } from '../contracts/store-contracts.ts';
import { withServices } from '../services/needed-services.ts';

/** As the bus has them: three partitions, by the last letter of a thread. */
const partitions = {
  count: 3,
  of: ({ thread }: ThreadKey) => (thread.codePointAt(thread.length - 1) ?? 0) % 3,
  owned: () => new Set([0, 1, 2]),
};

withServices(['mongo'], ({ mongo }) => {
  /** Opens a fresh database; `reopen` closes and opens the same one again. */
  function fresh<Part>(part: (stores: MongoStores) => Part): () => Promise<Living<Part>> {
    const open = async (database: string): Promise<Living<Part>> => {
      const stores = await openMongo({ url: mongo, database, indexes: 'make' });
      const reopen = async (): Promise<Living<Part>> => {
        await stores.close();
        return open(database);
      };
      return { ...part(stores), close: () => stores.close(), reopen };
    };
    return () => open(`test_${randomBytes(6).toString('hex')}`);
  }

  /** `another` is another process over the same database. */
  async function openTenantLog(database: string, given: typeof partitions | undefined): Promise<TenantLogUnderTest> {
    const options = { url: mongo, database, indexes: 'make', partitions: given } as const;
    const opened = [await openMongo(options)];
    const close = async (): Promise<void> => void (await Promise.all(opened.map((stores) => stores.close())));
    return {
      log: opened[0]!.log,
      tenantLog: opened[0]!.tenantLog,
      another: async () => {
        const stores = await openMongo(options);
        opened.push(stores);
        return stores;
      },
      close,
      reopen: async () => {
        await close();
        return openTenantLog(database, given);
      },
    };
  }

  storeContracts('mongo', fresh);
  threadLogContract(
    'mongo',
    fresh(({ log }) => ({ log })),
  );
  for (const given of [undefined, partitions])
    tenantLogContract(`mongo, partitions: ${given?.count ?? 1}`, () =>
      openTenantLog(`test_${randomBytes(6).toString('hex')}`, given),
    );
});
