// The SQLite adapter passes the contract of every port.
import { openSqlite } from '@dormouse/adapter-sqlite';
import { threadLogContract, type ThreadLogUnderTest } from '@dormouse/ports/contracts';
import { removeScratchDirectories, scratchDirectory } from './scratch-directory.ts';

removeScratchDirectories();

async function openLog(directory: string): Promise<ThreadLogUnderTest> {
  const stores = await openSqlite({ directory });
  return {
    log: stores.log,
    close: () => stores.close(),
    reopen: async () => {
      await stores.close();
      return openLog(directory);
    },
  };
}

threadLogContract('sqlite', async () => openLog(await scratchDirectory()));
