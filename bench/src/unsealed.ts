// The contestant that seals no contents: what sealing costs is the ratio to it. Runs on request only.
import { join } from 'node:path';
import type { Contestant } from './contestant.ts';
import { startDormouse } from './dormouse.ts';

const name = 'unsealed';
const openStores = join(import.meta.dirname, '..', 'unsealed', 'unsealed-contents.ts');

export const unsealed: Contestant = {
  name,
  is: 'the standalone app, whose stores get contents in the clear',
  durable: 'every event, before it is acknowledged',
  start: async (setting) => ({ ...(await startDormouse({ ...setting, nodeFlags: ['--import', openStores] })), name }),
};
