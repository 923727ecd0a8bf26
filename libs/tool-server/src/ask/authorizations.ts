/**
 * Owns: logins at other services: which user has a token, which one is being asked, and the page a browser returns to.
 * Not here: the requests themselves (`oauth-provider.ts`).
 *
 * G1. A `state` is random, known to this server, good for one use and for a limited time. T41
 * G2. A login that was begun ends in a token, a denial, a failure or a timeout; the waiting call gets each. T41
 * G3. Tokens are stored sealed, per provider and owner: the authenticated user, else the root thread. T42
 * G4. A token that expires is refreshed; if that is refused, the user is asked again. T42
 */
import { generateRandomCodeVerifier, generateRandomState } from 'oauth4webapi';
import type { Store } from '../store/store.ts';
import {
  type Authorization,
  authorizationUrl,
  exchangeCode,
  type OAuthProvider,
  refreshToken,
  type StoredToken,
  TokenFault,
} from './oauth-provider.ts';
import { ToolError } from '../define/tool-output.ts';

/** A token is renewed when it ends within this time. */
const expiryMarginMs = 30_000;

interface Pending {
  readonly provider: string;
  readonly owner: string;
  readonly verifier: string;
  readonly scopes: readonly string[];
}

interface Waiting {
  readonly key: string;
  readonly scopes: readonly string[];
  readonly provider: string;
  readonly resolve: (token: StoredToken) => void;
  readonly reject: (error: ToolError) => void;
}

/** The page that the browser shows. */
export interface LoginPage {
  readonly status: number;
  readonly text: string;
}

export interface Authorizations {
  /** A token, after a login if there is none; `ask` sends the URL to the user. @throws ToolError (G2) */
  readonly authorize: (request: {
    readonly provider: OAuthProvider;
    readonly owner: string;
    readonly scopes: readonly string[];
    readonly signal: AbortSignal;
    readonly protect: (secret: string) => void;
    readonly ask: (authUrl: string) => void;
  }) => Promise<Authorization>;
  readonly callback: (query: URLSearchParams) => Promise<LoginPage>;
  readonly sweep: () => void;
}

export function createAuthorizations(options: {
  readonly store: Store;
  readonly providers: ReadonlyMap<string, OAuthProvider>;
  readonly publicUrl: () => string;
  readonly loginMsMax: number;
  readonly log: (line: string) => void;
}): Authorizations {
  const { store, providers, publicUrl, loginMsMax, log } = options;
  const { vault } = store;
  const waiting = new Map<string, Waiting>(); // by digest of the state
  const ownerDigest = (owner: string): string => vault.digest(`owner ${owner}`);

  function stored(provider: string, owner: string): StoredToken | undefined {
    const sealed = store.tokens.get(provider, ownerDigest(owner));
    return sealed === undefined ? undefined : (vault.open('token', sealed) as StoredToken);
  }

  const keep = (provider: string, owner: string, token: StoredToken): void =>
    store.tokens.set(provider, ownerDigest(owner), vault.seal('token', token), Date.now()); // (G3)

  const discard = (provider: string, owner: string): void => store.tokens.delete(provider, ownerDigest(owner));

  /** (G4) */
  async function usable(
    provider: OAuthProvider,
    owner: string,
    scopes: readonly string[],
  ): Promise<StoredToken | null> {
    const token = stored(provider.name, owner);
    if (token === undefined || scopes.some((scope) => !token.scopes.includes(scope))) return null;
    if (token.expiresAt === undefined || token.expiresAt - expiryMarginMs > Date.now()) return token;
    if (token.refreshToken === undefined) return null;
    try {
      const fresh = await refreshToken(provider, publicUrl(), token);
      keep(provider.name, owner, fresh);
      return fresh;
    } catch (error) {
      if (!(error instanceof TokenFault)) throw error;
      if (error.kind === 'unreachable')
        throw new ToolError(`${provider.name} cannot be reached to renew the login; try again later.`);
      discard(provider.name, owner);
      return null;
    }
  }

  async function waitForLogin(
    state: string,
    wanted: Omit<Waiting, 'resolve' | 'reject'>,
    signal: AbortSignal,
  ): Promise<StoredToken> {
    let timer: NodeJS.Timeout | undefined;
    let stop = (): void => {};
    try {
      return await new Promise<StoredToken>((resolve, reject) => {
        timer = setTimeout(() => reject(new ToolError(timeoutText(wanted.provider, loginMsMax))), loginMsMax);
        stop = () => reject(new ToolError('the call ended before the login.'));
        signal.addEventListener('abort', stop, { once: true });
        waiting.set(state, { ...wanted, resolve, reject });
        if (signal.aborted) stop();
      });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      waiting.delete(state);
    }
  }

  /** One login serves every call that waits for the same user's. */
  function announce(pending: Pending, token: StoredToken): void {
    const key = JSON.stringify([pending.provider, pending.owner]);
    for (const each of waiting.values())
      if (each.key === key && each.scopes.every((scope) => token.scopes.includes(scope))) each.resolve(token);
  }

  async function complete(state: string, pending: Pending, code: string | null): Promise<LoginPage> {
    const { provider: name, owner, verifier, scopes } = pending;
    const provider = providers.get(name);
    const waiter = waiting.get(state);
    if (provider === undefined || code === null || code === '') {
      waiter?.reject(
        new ToolError(`${name}: access was not granted. Ask again if the person wants to grant it after all.`),
      );
      return { status: 200, text: `${name}: access was not granted. You can close this window.` };
    }
    try {
      const token = await exchangeCode(provider, publicUrl(), { code, verifier, scopes });
      keep(name, owner, token);
      waiter?.resolve(token);
      announce(pending, token);
      return { status: 200, text: `${name}: you are logged in. You can close this window.` };
    } catch (error) {
      if (!(error instanceof TokenFault)) throw error;
      log(`login at ${name} failed: ${error.kind}`);
      waiter?.reject(new ToolError(`the login at ${name} failed (${error.kind}). Call again to start a new one.`));
      return { status: 502, text: `${name}: the login failed. Go back and try again.` };
    }
  }

  return {
    async authorize({ provider, owner, scopes, signal, protect, ask }) {
      const asked = [...new Set([...(provider.scopes ?? []), ...scopes])];
      const login = async (): Promise<StoredToken> => {
        const [state, verifier] = [generateRandomState(), generateRandomCodeVerifier()]; // (G1)
        const authUrl = await authorizationUrl(provider, publicUrl(), { state, verifier, scopes: asked });
        const pending: Pending = { provider: provider.name, owner, verifier, scopes: asked };
        const key = JSON.stringify([provider.name, owner]);
        const digest = vault.digest(`state ${state}`);
        store.logins.add(digest, vault.seal('authorization', pending), Date.now() + loginMsMax);
        const answer = waitForLogin(digest, { key, scopes: asked, provider: provider.name }, signal);
        answer.catch(() => {}); // awaited below; asking may throw first
        ask(authUrl);
        return answer;
      };
      const token = (await usable(provider, owner, asked)) ?? (await login());
      for (const secret of [token.accessToken, token.refreshToken ?? '']) protect(secret); // T42
      return {
        accessToken: token.accessToken,
        scopes: token.scopes,
        discard: () => discard(provider.name, owner),
      };
    },
    async callback(query) {
      const state = vault.digest(`state ${query.get('state') ?? ''}`);
      const login = store.logins.take(state); // (G1)
      if (login === undefined || login.expires < Date.now())
        return { status: 400, text: 'This login was not begun here, was used already, or has expired.' };
      const pending = vault.open('authorization', login.sealed) as Pending;
      return complete(state, pending, query.has('error') ? null : query.get('code'));
    },
    sweep: () => store.logins.sweep(Date.now()),
  };
}

const timeoutText = (provider: string, ms: number): string =>
  `nobody has logged in at ${provider} within ${Math.round(ms / 60_000)} min. Call again to start a new login.`;
