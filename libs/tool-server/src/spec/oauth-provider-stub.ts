// An OAuth 2 provider for specs: codes are good once, PKCE is checked, tokens expire as configured.
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OAuthProvider } from '../ask/oauth-provider.ts';

export interface ProviderStub {
  readonly provider: OAuthProvider;
  /** Forms received by the token endpoint. */
  readonly forms: URLSearchParams[];
  /** Every secret that it issued. */
  readonly secrets: string[];
  /** Statuses of the next answers of the token endpoint. */
  readonly failures: number[];
  expiresIn: number | null;
  /** Replace or add fields of the next token responses. */
  fields: Readonly<Record<string, unknown>>;
  /** Follows the URL as a user's browser does; returns where it is redirected to. */
  readonly visit: (authUrl: string, decision?: 'allow' | 'deny') => string;
  readonly close: () => Promise<void>;
}

export async function startProvider(): Promise<ProviderStub> {
  const [forms, secrets, failures]: [URLSearchParams[], string[], number[]] = [[], [], []];
  const challenges = new Map<string, string>();
  const refreshable = new Set<string>();
  const make = (kind: string): string => {
    const secret = `${kind}-${randomBytes(12).toString('hex')}`;
    secrets.push(secret);
    return secret;
  };
  const isGood = (form: URLSearchParams): boolean => {
    if (form.get('grant_type') === 'refresh_token') return refreshable.delete(form.get('refresh_token') ?? '');
    const code = form.get('code') ?? '';
    const challenge = challenges.get(code);
    challenges.delete(code); // once
    return (
      challenge ===
      createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url')
    );
  };
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const form = new URLSearchParams(text);
      forms.push(form);
      const failure = failures.shift();
      if (failure !== undefined || !isGood(form)) {
        response.writeHead(failure ?? 400, { location: '/elsewhere' }).end('{"error":"invalid_grant"}');
        return;
      }
      const [access, refresh] = [make('access'), make('refresh')];
      refreshable.add(refresh);
      const expiry = stub.expiresIn === null ? {} : { expires_in: stub.expiresIn, refresh_token: refresh };
      response.end(JSON.stringify({ access_token: access, token_type: 'Bearer', ...expiry, ...stub.fields }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stub: ProviderStub = {
    provider: {
      name: 'Toy',
      clientId: 'client-1',
      authorizationEndpoint: `${base}/authorize?audience=all`,
      tokenEndpoint: `${base}/token`,
      scopes: ['read'],
      allowInsecureLoopback: true,
    },
    forms,
    secrets,
    failures,
    expiresIn: null,
    fields: {},
    visit(authUrl, decision = 'allow') {
      const { searchParams } = new URL(authUrl);
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('state', searchParams.get('state') ?? '');
      if (decision === 'deny') back.searchParams.set('error', 'access_denied');
      else {
        const code = make('code');
        challenges.set(code, searchParams.get('code_challenge') ?? '');
        back.searchParams.set('code', code);
      }
      return back.href;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return stub;
}
