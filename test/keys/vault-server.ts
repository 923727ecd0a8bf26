// A server that answers as the transit engine of Vault and OpenBao is documented to (`/api-docs/secret/transit`), for
// the one key of its mount: what it wraps is AES-256-GCM under a key that it alone has.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface VaultServer {
  readonly url: string;
  /** Operations that were answered with 200. */
  readonly unwrapped: () => number;
  /** From now on. `silent` accepts requests and never answers. */
  behave(as: 'open' | 'sealed' | 'silent' | 'redirecting'): void;
  /** Requests with the token of before are refused from now on. */
  setToken(token: string): void;
  close(): Promise<void>;
}

export const vaultKey = 'transit/dormouse';

export async function startVault(token: string, port = 0): Promise<VaultServer> {
  const key = randomBytes(32);
  let good = token;
  let behaviour: Parameters<VaultServer['behave']>[0] = 'open';
  let unwrapped = 0;

  function wrap(plain: Buffer): string {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
    return `vault:v1:${Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64')}`;
  }

  function unwrap(text: string): Buffer {
    const bytes = Buffer.from(text.replace(/^vault:v1:/, ''), 'base64');
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAuthTag(bytes.subarray(-16));
    return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const say = (status: number, body: object): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (behaviour === 'silent') return;
    if (behaviour === 'redirecting') return void response.writeHead(307, { location: '/elsewhere' }).end();
    if (behaviour === 'sealed') return say(503, { errors: ['Vault is sealed'] });
    if (request.headers['x-vault-token'] !== good) return say(403, { errors: ['permission denied'] });
    const [, operation] = /^\/v1\/transit\/(encrypt|decrypt)\/dormouse$/.exec(request.url ?? '') ?? [];
    if (operation === undefined) return say(404, { errors: [`no handler for route "${request.url}"`] });
    const body = JSON.parse(Buffer.concat(chunks).toString()) as { plaintext?: string; ciphertext?: string };
    if (operation === 'encrypt')
      return say(200, { data: { ciphertext: wrap(Buffer.from(body.plaintext ?? '', 'base64')), key_version: 1 } });
    try {
      const plaintext = unwrap(body.ciphertext ?? '').toString('base64');
      unwrapped += 1;
      return say(200, { data: { plaintext } });
    } catch {
      return say(400, { errors: ['cipher: message authentication failed'] });
    }
  }

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${taken}`,
    unwrapped: () => unwrapped,
    behave: (as) => {
      behaviour = as;
    },
    setToken: (next) => {
      good = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
