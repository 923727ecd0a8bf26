// The token that a call presents for its user: a bearer as it was set, or the access token of a grant (OAuth 2), which
// is refreshed when it ends. A refresh token is often good once, so two refreshes at a time would lose the grant.
//
// Invariants:
//   T1. A grant is refreshed by the process whose lease was stored; all others wait for what it stores.
//   T2. What a refresh gave is stored before it is used, and only where the grant is still the one that was refreshed.
//       It is stored again and again for as long as the lease lasts: its refresh token is the only one by then. A grant
//       that another master key has sealed meanwhile is still the same.
//   T3. A provider that refuses ends the grant that it was asked about: it is not asked again until the credential is
//       set anew. One that does not answer is asked again by the next call.
//   T4. A token goes to the origin of its credential, and to no other.
//   T5. Nothing that is sealed is in a log, or in the words of a fault.
import {
  type Clock,
  credentialOwner,
  type Entropy,
  Fault,
  type Logger,
  type Sealer,
  type UserCredential,
  type UserCredentials,
  type TenantId,
} from '@dormouse/ports';
import type { NewCredential } from './user-credentials.ts';

export type Grant = Extract<NewCredential, { type: 'oauth2' }>;

export interface RefreshedGrant {
  readonly accessToken: string;
  /** Null when the one of before stays good. */
  readonly refreshToken: string | null;
  readonly expiresInS: number | null;
}

/** Asks the provider. Null when it refuses this grant. @throws Fault when it does not answer, or may not be asked. */
export type RefreshGrant = (grant: Grant, tenant: TenantId) => Promise<RefreshedGrant | null>;

/**
 * Null when the user has none for this server.
 * @throws Fault CREDENTIAL_REFRESH_FAILED, SECRET_UNUSABLE, UNAVAILABLE
 */
export type UserToken = (
  tenant: TenantId,
  userId: string,
  toolServer: string,
  origin: string,
) => Promise<string | null>;

export interface UserTokenPorts {
  readonly userCredentials: UserCredentials;
  readonly sealer: Sealer;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly entropy: Pick<Entropy, 'nonce'>;
  readonly logger: Logger;
  readonly refreshGrant: RefreshGrant;
}

/** A token that ends sooner is refreshed before it is used. */
const usableMs = 30_000;
/** More than a provider may take to answer. */
const leaseMs = 30_000;
/** How far the clock of another process may be ahead: a lease that ends later is of a clock that was set back since. */
const aheadMsMax = 30_000;
const waitMsMax = 20_000;
const lookAgainMs = 100;
const storeAgainMs = 250;
/** Ten years: what a provider says may be beyond every time that there is. */
const expiresInSMax = 315_360_000;

export function createUserTokens(ports: UserTokenPorts): UserToken {
  const { userCredentials, sealer, clock, entropy, logger } = ports;

  const ownerOf = ({ tenant, userId, toolServer }: UserCredential) => credentialOwner(tenant, userId, toolServer);
  const read = (stored: UserCredential): NewCredential =>
    JSON.parse(sealer.open(ownerOf(stored), stored.sealed)) as NewCredential;
  const isLeased = ({ lease }: UserCredential, now: number): boolean =>
    lease !== null && lease.until > now && lease.until <= now + leaseMs + aheadMsMax;

  return async (tenant, userId, toolServer, origin) => {
    for (const waitUntil = clock.now() + waitMsMax; ;) {
      const stored = await userCredentials.get(tenant, userId, toolServer);
      if (stored === null) return null;
      if (stored.origin !== origin)
        throw new Fault('SECRET_UNUSABLE', `the user's credential for "${toolServer}" is for ${stored.origin}`); // (T4)
      const content = read(stored);
      if (content.type === 'bearer') return content.value;
      const now = clock.now();
      if (isUsable(content, now)) return content.accessToken;
      if (stored.failedAt !== null) throw refused(toolServer); // (T3)
      if (!isLeased(stored, now)) {
        const leased = { ...stored, lease: { holder: entropy.nonce(), until: now + leaseMs } };
        const token = (await userCredentials.replace(leased, stored)) ? await refresh(leased, content) : null; // (T1)
        if (token !== null) return token;
      } else if (now >= waitUntil)
        throw new Fault('UNAVAILABLE', `the user's login at "${toolServer}" is being refreshed`);
      else await clock.sleep(lookAgainMs);
    }
  };

  /** Null when the credential was changed meanwhile. */
  async function refresh(leased: UserCredential, grant: Grant): Promise<string | null> {
    const { toolServer, tenant } = leased;
    let fresh: RefreshedGrant | null;
    try {
      fresh = await ports.refreshGrant(grant, tenant);
    } catch (error) {
      await userCredentials.replace({ ...leased, lease: null }, leased).catch(() => false); // else the lease ends
      if (error instanceof Fault) throw new Fault('UNAVAILABLE', error.message, { cause: error });
      throw error;
    }
    const now = clock.now();
    if (fresh === null) {
      logger.warn('credential_refresh_failed', { tenant, tool_server: toolServer });
      if (!(await store({ updatedAt: now, failedAt: now }, leased))) return null; // what was set meanwhile is another grant
      throw refused(toolServer); // (T3)
    }
    const expiresAt = fresh.expiresInS === null ? null : now + Math.min(fresh.expiresInS, expiresInSMax) * 1_000;
    const { accessToken, refreshToken } = fresh;
    const renewed: Grant = { ...grant, accessToken, refreshToken: refreshToken ?? grant.refreshToken, expiresAt };
    const sealed = sealer.seal(ownerOf(leased), JSON.stringify(renewed));
    return (await store({ sealed, updatedAt: now, expiresAt }, leased)) ? accessToken : null;
  }

  /** (T2) False when the credential was changed meanwhile, or the outcome is not known: it is read again then. */
  async function store(change: Partial<UserCredential>, leased: UserCredential): Promise<boolean> {
    const { tenant, userId, toolServer, lease } = leased;
    for (let seen = leased; ;) {
      try {
        const next = { ...seen, ...change, version: seen.version + 1, lease: null };
        if (await userCredentials.replace(next, seen)) return true;
        const found = await userCredentials.get(tenant, userId, toolServer);
        if (found === null || found.lease?.holder !== lease?.holder) return false;
        seen = found; // sealed again
      } catch (error) {
        if (!(error instanceof Fault) || clock.now() + storeAgainMs >= (lease?.until ?? 0)) throw error;
        await clock.sleep(storeAgainMs);
      }
    }
  }
}

const isUsable = (grant: Grant, now: number): grant is Grant & { readonly accessToken: string } =>
  grant.accessToken !== null && (grant.expiresAt === null || grant.expiresAt - usableMs > now);

const refused = (toolServer: string): Fault =>
  new Fault(
    'CREDENTIAL_REFRESH_FAILED',
    `the user's login at "${toolServer}" has ended and could not be refreshed: the user has to log in again`,
  );
