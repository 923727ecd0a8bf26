// Revoked tokens in memory. Contract: ports/stores/revoked-tokens.ts.
import type { RevokedTokens, TokenName } from '@dormouse/ports';
import type { Passage } from '../../gate.ts';

/** Times at which the tokens expire, by name. */
export type RevokedTokenStore = Map<string, number>;

const nameOf = ({ tenant, thread, id }: TokenName): string => JSON.stringify([tenant, thread, id]);

export const createRevokedTokens = (store: RevokedTokenStore, passage: Passage): RevokedTokens => ({
  add: (token, expiresAt) =>
    passage.write('revokedTokens.add', token.id, () => void store.set(nameOf(token), expiresAt)),
  among: (tokens) =>
    passage.read('revokedTokens.among', String(tokens.length), () =>
      tokens.filter((token) => store.has(nameOf(token))),
    ),
});
