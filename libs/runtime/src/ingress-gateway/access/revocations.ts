// Which thread tokens were revoked, and when a token that is in use ends.
//
// Invariants:
//   V1. A revocation is known in this process at once, and in every other one within a second: "not revoked" is
//       remembered for `rememberedMs`, and tokens that are watched are looked up every `lookEveryMs`, together.
//   V2. A store that does not answer is a fault, not a "no". A watched token whose state has been unknown for
//       `unknownMsMax` counts as ended.
//   V3. Nothing is looked up while no token is watched.
import { type Clock, type RevokedTokens, type ThreadKey, type TokenName, tokensAtOnceMax } from '@dormouse/ports';

const rememberedMs = 400;
const lookEveryMs = 400;
const unknownMsMax = 1_000;
const rememberedMax = 10_000;

/** The part of a grant that says when it ends. */
export interface Ending extends ThreadKey {
  /** Null for a token that cannot be revoked. */
  readonly id: string | null;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The end of one token that is in use. */
export interface TokenEnd {
  /** Aborts when the token has expired or was revoked. */
  readonly signal: AbortSignal;
  stop(): void;
}

export interface Revocations {
  isRevoked(grant: Ending): Promise<boolean>;
  revoke(token: TokenName, expiresAt: number): Promise<void>;
  watch(grant: Ending): TokenEnd;
}

interface Watched {
  readonly token: TokenName | null;
  readonly ended: AbortController;
  /** When it was last known to be in force. */
  knownAt: number;
}

export function createRevocations({
  clock,
  revokedTokens,
}: {
  readonly clock: Clock;
  readonly revokedTokens: RevokedTokens;
}): Revocations {
  const watched = new Set<Watched>();
  /** What was read lately, by name. */
  const remembered = new Map<string, { readonly isRevoked: boolean; readonly until: number }>();
  let looking = false;

  function remember(token: TokenName, isRevoked: boolean, until: number): void {
    if (remembered.size >= rememberedMax) remembered.clear();
    remembered.set(nameOf(token), { isRevoked, until });
  }

  function end(token: TokenName): void {
    for (const each of watched) if (each.token !== null && nameOf(each.token) === nameOf(token)) each.ended.abort();
  }

  /** (V1) */
  async function look(): Promise<void> {
    while (watched.size > 0) {
      await clock.sleep(lookEveryMs);
      const asked = [...watched].filter(({ token }) => token !== null);
      for (let from = 0; from < asked.length; from += tokensAtOnceMax)
        await lookAt(asked.slice(from, from + tokensAtOnceMax));
    }
    looking = false; // (V3)
  }

  async function lookAt(asked: readonly Watched[]): Promise<void> {
    const askedAt = clock.now();
    try {
      const found = await revokedTokens.among(asked.flatMap(({ token }) => token ?? []));
      for (const each of asked) each.knownAt = askedAt;
      for (const token of found) end(token);
    } catch {
      // The next look comes soon; a token that stays unknown ends. (V2)
      for (const { knownAt, ended } of asked) if (clock.now() - knownAt >= unknownMsMax) ended.abort();
    }
  }

  return {
    async isRevoked({ tenant, thread, id, expiresAt }) {
      if (id === null) return false;
      const token = { tenant, thread, id };
      const known = remembered.get(nameOf(token));
      if (known !== undefined && known.until > clock.now()) return known.isRevoked;
      const askedAt = clock.now();
      const [found] = await revokedTokens.among([token]); // (V2)
      remember(token, found !== undefined, found === undefined ? askedAt + rememberedMs : expiresAt);
      return found !== undefined;
    },
    async revoke(token, expiresAt) {
      await revokedTokens.add(token, expiresAt);
      remember(token, true, expiresAt);
      end(token);
    },
    watch({ tenant, thread, id, expiresAt }) {
      const ended = new AbortController();
      const each: Watched = { token: id === null ? null : { tenant, thread, id }, ended, knownAt: clock.now() };
      watched.add(each);
      const stopAlarm = clock.alarm(Math.max(0, expiresAt - clock.now()), () => ended.abort());
      if (!looking && each.token !== null) {
        looking = true;
        void look();
      }
      return {
        signal: ended.signal,
        stop: () => {
          stopAlarm();
          watched.delete(each);
        },
      };
    },
  };
}

const nameOf = ({ tenant, thread, id }: TokenName): string => JSON.stringify([tenant, thread, id]);
