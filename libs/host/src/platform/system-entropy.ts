// Randomness of the machine.
import { randomBytes } from 'node:crypto';
import type { Entropy } from '@dormouse/ports';

export const systemEntropy: Entropy = {
  nonce: () => randomBytes(16).toString('base64url'),
  fraction: () => Math.random(),
};
