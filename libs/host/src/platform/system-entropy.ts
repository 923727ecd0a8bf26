// Randomness of the machine, fetched in blocks: sixteen bytes cost as much as thousands.
import { randomFillSync } from 'node:crypto';
import type { Entropy } from '@dormouse/ports';

const nonceBytes = 16;
const block = Buffer.alloc(nonceBytes * 256);
let used = block.length;

export const systemEntropy: Entropy = {
  nonce() {
    if (used === block.length) {
      randomFillSync(block);
      used = 0;
    }
    used += nonceBytes;
    return block.toString('base64url', used - nonceBytes, used);
  },
  fraction: () => Math.random(),
};
