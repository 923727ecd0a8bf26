// Which credentials were revoked, and when one that is in use ends: thread tokens, keys, sessions.
//
// Invariants:
//   V1. A revocation is known in this process at once, and in every other one within a second: "not revoked" is
//       remembered for `rememberedMs`, and credentials that are watched are looked up every `lookEveryMs`, together.
//   V2. A store that does not answer is a fault, not a "no". A watched credential whose state has been unknown for
//       `unknownMsMax` counts as ended, also while a look-up hangs.
//   V3. Nothing is looked up while nothing is watched.
//   V4. What is watched ends within a second too when its tenant may not go on.
import { type ThreadKey, type TokenName, tokensAtOnceMax, type TenantId } from '@dormouse/ports';
import type { IngressParts } from '../ingress-ports.ts';
import type { TenantRecords } from '../../tenants/tenant-records.ts';
import type { KeyApi } from './api-keys.ts';

const rememberedMs = 400;
const lookEveryMs = 400;
const unknownMsMax = 1_000;
/** After a stall of this process an answer that is here already counts. */
const afterStallMs = 100;
const rememberedMax = 10_000;

/** The part of a grant that says when it ends. */
export interface Ending extends ThreadKey {
  /** Null for one that cannot be revoked. */
  readonly id: string | null;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** What a request came with. */
export interface Credential {
  readonly tenant: TenantId;
  /** Of a thread token; null for a key or a session. */
  readonly grant: Ending | null;
  /** SHA-256 of what must be in force beside the grant: the key; the session, and its key. */
  readonly keys: readonly string[];
  /** Milliseconds since the epoch, of a credential that says its end itself, as `grant` does. Absent for all others. */
  readonly endsAt?: number;
}

/** The end of a credential that is in use. */
export interface CredentialEnd {
  /** Aborts when the credential has expired or was revoked, or its tenant may not go on. */
  readonly signal: AbortSignal;
  stop(): void;
}

export interface Revocations {
  isRevoked(grant: Ending): Promise<boolean>;
  revoke(token: TokenName, expiresAt: number): Promise<void>;
  watch(credential: Credential): CredentialEnd;
}

interface Watched {
  readonly tenant: TenantId;
  readonly token: TokenName | null;
  readonly keys: readonly string[];
  readonly ended: AbortController;
  /** When all of it was last known to be in force. */
  knownAt: number;
}

export interface RevocationPorts extends Pick<IngressParts, 'clock' | 'revokedTokens'> {
  readonly records: Pick<TenantRecords, 'isActive'>;
  readonly keys: Pick<KeyApi, 'inForce'>;
}

export function createRevocations({ clock, revokedTokens, records, keys }: RevocationPorts): Revocations {
  const watched = new Set<Watched>();
  /** What was read lately, by name. */
  const remembered = new Map<string, { readonly isRevoked: boolean; readonly until: number }>();
  let looking = false;

  function remember(token: TokenName, isRevoked: boolean, until: number): void {
    if (remembered.size >= rememberedMax) remembered.clear();
    remembered.set(nameOf(token), { isRevoked, until });
  }

  function end(names: ReadonlySet<string>): void {
    for (const { token, ended } of watched) if (token !== null && names.has(nameOf(token))) ended.abort();
  }

  /** (V1) */
  async function look(): Promise<void> {
    while (watched.size > 0) {
      await clock.sleep(lookEveryMs);
      await lookOnce([...watched]);
    }
    looking = false; // (V3)
  }

  /** (V2) */
  function endUnknown(): void {
    for (const { knownAt, ended } of watched) if (clock.now() - knownAt >= unknownMsMax) ended.abort();
  }

  async function lookOnce(asked: readonly Watched[]): Promise<void> {
    const askedAt = clock.now();
    const late = (): void => {
      stopAlarm = clock.alarm(afterStallMs, () => {
        endUnknown();
        late();
      });
    };
    let stopAlarm = clock.alarm(unknownMsMax - lookEveryMs, late);
    try {
      const byName = new Map(asked.flatMap(({ token }) => (token === null ? [] : [[nameOf(token), token] as const])));
      const tokens = [...byName.values()];
      const found: TokenName[] = [];
      for (let from = 0; from < tokens.length; from += tokensAtOnceMax)
        found.push(...(await revokedTokens.among(tokens.slice(from, from + tokensAtOnceMax))));
      const tenants = await without(
        asked.map(({ tenant }) => tenant),
        (tenant) => records.isActive(tenant),
      );
      const over = await without(
        asked.flatMap((each) => each.keys),
        async (key) => (await keys.inForce(key)) !== null,
      );
      for (const each of asked) each.knownAt = askedAt;
      end(new Set(found.map(nameOf)));
      for (const each of asked)
        if (tenants.has(each.tenant) || each.keys.some((key) => over.has(key))) each.ended.abort(); // (V4)
    } catch {
      endUnknown(); // the next look comes soon
    } finally {
      stopAlarm();
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
      end(new Set([nameOf(token)]));
    },
    watch({ tenant, grant, keys: wanted, endsAt = grant?.expiresAt }) {
      const ended = new AbortController();
      const each: Watched = { tenant, token: tokenOf(grant), keys: wanted, ended, knownAt: clock.now() };
      watched.add(each);
      const stopAlarm =
        endsAt === undefined ? null : clock.alarm(Math.max(0, endsAt - clock.now()), () => ended.abort());
      if (!looking) {
        looking = true;
        void look();
      }
      return {
        signal: ended.signal,
        stop: () => {
          stopAlarm?.();
          watched.delete(each);
        },
      };
    },
  };
}

const tokenOf = (grant: Ending | null): TokenName | null =>
  grant === null || grant.id === null ? null : { tenant: grant.tenant, thread: grant.thread, id: grant.id };

/** Those that do not hold, each asked once. */
async function without<Name>(
  names: readonly Name[],
  holds: (name: Name) => Promise<boolean>,
): Promise<ReadonlySet<Name>> {
  const unique = [...new Set(names)];
  const held = await Promise.all(unique.map(holds));
  return new Set(unique.filter((_, nth) => held[nth] === false));
}

const nameOf = ({ tenant, thread, id }: TokenName): string => JSON.stringify([tenant, thread, id]);
