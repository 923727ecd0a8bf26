// The SQLite adapter passes the contract of every port.
import { openSqlite, type SqliteStores } from '@dormouse/adapter-sqlite';
import {
  dedupContract,
  inputBusContract,
  liveFeedContract,
  rateLimitsContract,
  tenantLogContract,
  threadLogContract,
  workBusContract,
} from '@dormouse/ports/contracts';
import { removeScratchDirectories, scratchDirectory } from './scratch-directory.ts';
import { type Living, storeContracts } from './store-contracts.ts';

removeScratchDirectories();

/** Opens a fresh directory; `reopen` closes and opens the same one again. */
function fresh<Part>(part: (stores: SqliteStores) => Part): () => Promise<Living<Part>> {
  const open = async (directory: string): Promise<Living<Part>> => {
    const stores = await openSqlite({ directory });
    const reopen = async (): Promise<Living<Part>> => {
      await stores.close();
      return open(directory);
    };
    return { ...part(stores), close: () => stores.close(), reopen };
  };
  return async () => open(await scratchDirectory());
}

storeContracts('sqlite', fresh);
threadLogContract(
  'sqlite',
  fresh(({ log }) => ({ log })),
);
tenantLogContract(
  'sqlite',
  fresh(({ log, tenantLog }) => ({ log, tenantLog })),
);
inputBusContract(
  'sqlite',
  fresh(({ inputs, log }) => ({ inputs, log })),
);
workBusContract(
  'sqlite',
  fresh(({ work }) => ({ work })),
);
rateLimitsContract(
  'sqlite',
  fresh((stores) => ({ port: stores.rates })),
);
dedupContract(
  'sqlite',
  fresh((stores) => ({ port: stores.dedup })),
);
liveFeedContract(
  'sqlite',
  fresh((stores) => ({ port: stores.feed })),
);
