// API keys in memory, by the hash of the key. Port: ports/registry/api-keys.ts.
import type { ApiKeys } from '@dormouse/ports';
import type { Passage } from '../../gate.ts';
import { rowsOf } from '../rows.ts';
import type { RegistryStore } from './registry.ts';

export function createApiKeys({ apiKeys }: RegistryStore, passage: Passage): ApiKeys {
  return {
    insert: (key) => passage.write('apiKeys.insert', key.id, () => void apiKeys.set(key.keySha256, key)),
    bySha256: (keySha256) => passage.read('apiKeys.bySha256', '', () => apiKeys.get(keySha256) ?? null),
    list: (tenant) => passage.read('apiKeys.list', tenant, () => rowsOf(apiKeys, tenant)),
    used: (keySha256, at) =>
      passage.write('apiKeys.used', '', () => {
        const key = apiKeys.get(keySha256);
        if (key !== undefined && (key.lastUsedAt ?? 0) < at) apiKeys.set(keySha256, { ...key, lastUsedAt: at });
      }),
    end: (tenant, id, end) =>
      passage.write('apiKeys.end', id, () => {
        const found = rowsOf(apiKeys, tenant).find((key) => key.id === id);
        if (found === undefined || found.revokedAt !== undefined) return false;
        apiKeys.set(found.keySha256, { ...found, ...end });
        return true;
      }),
    remove: (tenant, id) =>
      passage.write('apiKeys.remove', id, () => {
        const found = rowsOf(apiKeys, tenant).find((key) => key.id === id);
        return found !== undefined && apiKeys.delete(found.keySha256);
      }),
  };
}
