// Wraps master keys with the transit engine of HashiCorp Vault or OpenBao: `POST /v1/MOUNT/encrypt/NAME` and
// `…/decrypt/NAME`. The key that wraps never leaves that service.
//
// Invariants:
//   V1. The token is read from its file for each request: an agent that renews it writes it there.
//   V2. A request is sent to the address of the settings and to no other: redirects are not followed. It is not one of
//       the outbound guard, whose rules also hold for what tenants name.
//   V3. The service refuses where it has answered that this token, this key or this text is not good (4xx); where it
//       does not answer in time, is sealed, is a standby or fails, it is away, and may be asked again.
//   V4. Neither token nor key nor wrapped text is in the words of a fault. What the service says is not repeated.
import { readFile } from 'node:fs/promises';
import { Fault, type KeyManagement } from '@dormouse/ports';
import { Agent, request } from 'undici';

export interface VaultTransitOptions {
  /** Where it listens, such as `https://vault.internal:8200`. */
  readonly url: string;
  /** Of the key that wraps: `MOUNT/NAME`. */
  readonly key: string;
  readonly tokenFile: string;
  /** PEM; undefined for the authorities of the system. */
  readonly authorities: string | undefined;
  /** Default 5 s. */
  readonly timeoutMs?: number;
}

/** `MOUNT/NAME`; a mount may have several parts. */
export const vaultKeyPattern = /^[\w.-]+(?:\/[\w.-]+)+$/;

const answerBytesMax = 65_536;
/** A version of the key, and what it has encrypted. */
const wrappedPattern = /^vault:v\d{1,9}:[\w+/-]{16,}={0,2}$/;

export function createVaultTransit(options: VaultTransitOptions): KeyManagement & { close(): Promise<void> } {
  const { url, key, tokenFile, authorities: ca, timeoutMs = 5_000 } = options;
  const connect = { timeout: timeoutMs, ...(ca === undefined ? {} : { ca }) };
  const agent = new Agent({ connections: 1, connect, maxResponseSize: answerBytesMax });
  const slash = key.lastIndexOf('/');
  const [mount, name] = [key.slice(0, slash), key.slice(slash + 1)];

  /** (V1) */
  async function token(): Promise<string> {
    const text = await readFile(tokenFile, 'utf8').catch((cause: unknown) => {
      throw new Fault('KMS_REFUSED', 'The file that DORMOUSE_VAULT_TOKEN_FILE names cannot be read.', { cause });
    });
    const read = text.trim();
    if (!/^[\x21-\x7e]+$/.test(read))
      throw new Fault('KMS_REFUSED', 'The file that DORMOUSE_VAULT_TOKEN_FILE names has no token.');
    return read;
  }

  async function asked(operation: 'encrypt' | 'decrypt', body: object): Promise<Readonly<Record<string, unknown>>> {
    const headers = { 'content-type': 'application/json', 'x-vault-request': 'true', 'x-vault-token': await token() };
    const signal = AbortSignal.timeout(timeoutMs);
    let status: number;
    let text: string;
    try {
      const answer = await request(`${url}/v1/${mount}/${operation}/${name}`, {
        ...{ method: 'POST', headers, body: JSON.stringify(body), dispatcher: agent, signal }, // (V2)
      });
      status = answer.statusCode;
      text = await answer.body.text();
    } catch (error) {
      const reason = signal.aborted ? 'TIMEOUT' : (codeOf(error) ?? 'no answer');
      throw new Fault('UNAVAILABLE', `The key management at ${url} is away (${reason}).`); // (V3, V4)
    }
    if (status === 200) return dataOf(text);
    const answered = `The key management at ${url} answered ${status} to a request to ${operation} with ${key}`;
    if (status < 400 || status === 429 || isAway(status)) throw new Fault('UNAVAILABLE', `${answered}.`);
    throw new Fault('KMS_REFUSED', `${answered}: ${refusals[status] ?? 'it takes no such request'}.`);
  }

  return {
    keyId: `vault ${key}`,
    async wrap(plain) {
      const { ciphertext } = await asked('encrypt', { plaintext: Buffer.from(plain).toString('base64') });
      if (typeof ciphertext !== 'string' || !wrappedPattern.test(ciphertext)) throw unlike();
      return ciphertext;
    },
    async unwrap(ciphertext) {
      if (!wrappedPattern.test(ciphertext))
        throw new Fault('KMS_REFUSED', 'The wrapped key is not a text such as vault:v1:…');
      const { plaintext } = await asked('decrypt', { ciphertext });
      if (typeof plaintext !== 'string') throw unlike();
      return new Uint8Array(Buffer.from(plaintext, 'base64'));
    },
    close: () => agent.destroy(),
  };

  function unlike(): Fault {
    return new Fault('UNAVAILABLE', `What answers at ${url} is no transit engine of Vault or OpenBao.`);
  }

  function dataOf(text: string): Readonly<Record<string, unknown>> {
    try {
      const { data } = JSON.parse(text) as { readonly data?: unknown };
      if (typeof data === 'object' && data !== null) return data as Readonly<Record<string, unknown>>;
    } catch {
      // it is no JSON
    }
    throw unlike();
  }
}

/** A standby, a secondary that waits, and a node that is sealed or fails. (V3) */
const isAway = (status: number): boolean => status === 412 || status === 472 || status === 473 || status >= 500;

const refusals: Readonly<Record<number, string>> = {
  400: 'the key is not there, or it has not wrapped this text',
  403: 'the token is not good, or its policy does not allow it',
  404: 'nothing is mounted there',
};

const codeOf = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
