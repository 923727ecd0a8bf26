// The SQLite adapter passes the contract of every port.
import { openSqlite, type SqliteStores } from '@dormouse/adapter-sqlite';
import {
  dispatchLedgerContract,
  inputBusContract,
  threadLogContract,
  workBusContract,
} from '@dormouse/ports/contracts';
import { removeScratchDirectories, scratchDirectory } from './scratch-directory.ts';

removeScratchDirectories();

type UnderTest<Part> = Part & { close(): Promise<void>; reopen(): Promise<UnderTest<Part>> };

/** Opens a fresh directory; `reopen` closes and opens the same one again. */
function fresh<Part>(part: (stores: SqliteStores) => Part): () => Promise<UnderTest<Part>> {
  const open = async (directory: string): Promise<UnderTest<Part>> => {
    const stores = await openSqlite({ directory });
    const reopen = async (): Promise<UnderTest<Part>> => {
      await stores.close();
      return open(directory);
    };
    return { ...part(stores), close: () => stores.close(), reopen };
  };
  return async () => open(await scratchDirectory());
}

threadLogContract(
  'sqlite',
  fresh(({ log }) => ({ log })),
);
inputBusContract(
  'sqlite',
  fresh(({ inputs, log }) => ({ inputs, log })),
);
workBusContract(
  'sqlite',
  fresh(({ work }) => ({ work })),
);
dispatchLedgerContract(
  'sqlite',
  fresh(({ ledger }) => ({ ledger })),
);
