// Keys of families. Port: ports/stores/family-keys.ts.
import type { FamilyKey, FamilyKeys, TenantId } from '@dormouse/ports';
import type { Reader } from '../../file/database.ts';
import type { GroupWriter } from '../../writer/group-writer.ts';

const columns = 'tenant, family, sealed';
const insert = 'INSERT INTO family_keys (tenant, family, sealed) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
const select = `SELECT ${columns} FROM family_keys WHERE tenant = ? AND family IN (SELECT value FROM json_each(?))`;
const selectPage = `SELECT ${columns} FROM family_keys WHERE tenant = ? AND family > ? ORDER BY family LIMIT ?`;
const replace = 'UPDATE family_keys SET sealed = ? WHERE tenant = ? AND family = ? AND sealed = ?';
const erase =
  'INSERT INTO family_keys (tenant, family, sealed) VALUES (?, ?, NULL) ON CONFLICT DO UPDATE SET sealed = NULL';

export function createFamilyKeys(writer: GroupWriter, reader: Reader): FamilyKeys {
  const get = (tenant: TenantId, families: readonly string[]): readonly FamilyKey[] =>
    reader.all<FamilyKey>(select, tenant, JSON.stringify(families)).map(keyOf);
  return {
    insert: async (key) => {
      const { tenant, family, sealed } = key;
      if (await writer.changes(insert, tenant, family, sealed)) return key;
      return get(tenant, [family])[0] ?? { tenant, family, sealed: null };
    },
    get: async (tenant, families) => get(tenant, families),
    page: async (tenant, after, limit) => reader.all<FamilyKey>(selectPage, tenant, after ?? '', limit).map(keyOf),
    replace: ({ tenant, family, sealed }, seen) => writer.changes(replace, sealed, tenant, family, seen.sealed),
    erase: async (tenant, families) => {
      await writer.rows(
        'prompt',
        erase,
        families.map((family) => [tenant, family]),
      );
    },
  };
}

const keyOf = ({ tenant, family, sealed }: FamilyKey): FamilyKey => ({ tenant, family, sealed });
