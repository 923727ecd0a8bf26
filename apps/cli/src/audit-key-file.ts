// The public keys that sign exports of the audit and certificates of erasures, as `dormouse audit keys` prints them.
import type { AuditKey } from '@dormouse/client';
import { readFile } from 'node:fs/promises';
import { cli } from './command-name.ts';
import { wrongUsage } from './exit-code.ts';

export async function auditKeysIn(file: string): Promise<readonly AuditKey[]> {
  try {
    const set = JSON.parse(await readFile(file, 'utf8')) as { readonly keys: readonly AuditKey[] };
    if (set.keys.every(({ kid, x }) => typeof kid === 'string' && typeof x === 'string')) return set.keys;
  } catch {
    // As below: a file that cannot be read, or that is no key set.
  }
  throw wrongUsage(`${file} is no JSON Web Key Set.`, `Write one with: ${cli} audit keys > ${file}`);
}
