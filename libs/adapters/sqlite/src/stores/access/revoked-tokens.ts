// Revoked tokens. Contract: ports/stores/revoked-tokens.ts.
import type { RevokedTokens, TokenName } from '@dormouse/ports';
import type { Reader } from '../../file/database.ts';
import type { GroupWriter } from '../../writer/group-writer.ts';

const insert = 'INSERT INTO revoked_tokens (id, tenant, thread, expires_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING';
const selectAmong =
  'SELECT revoked_tokens.tenant, revoked_tokens.thread, revoked_tokens.id FROM json_each(?) AS asked JOIN revoked_tokens ' +
  "ON revoked_tokens.id = asked.value ->> 'id' AND revoked_tokens.tenant = asked.value ->> 'tenant' " +
  "AND revoked_tokens.thread = asked.value ->> 'thread'";
export const sweepRevokedTokens = 'DELETE FROM revoked_tokens WHERE expires_at <= ?';

export function createRevokedTokens(writer: GroupWriter, reader: Reader): RevokedTokens {
  return {
    add: ({ tenant, thread, id }, expiresAt) => writer.run(insert, id, tenant, thread, expiresAt),
    among: async (tokens) => {
      if (tokens.length === 0) return [];
      const asked = tokens.map(({ tenant, thread, id }) => ({ tenant, thread, id }));
      return reader
        .all<TokenName>(selectAmong, JSON.stringify(asked))
        .map(({ tenant, thread, id }) => ({ tenant, thread, id }));
    },
  };
}
