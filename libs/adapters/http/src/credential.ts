// Credentials towards tool servers: request headers made from the secret of the registration. R42
// Not here: storing secrets. Which origin may receive a credential is decided in tool-transport.ts.
import { hash } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { Fault, type ToolServerAuth } from '@dormouse/ports';
import aws4 from 'aws4';
import { Webhook } from 'standardwebhooks';

/** The values of the secrets; kept only as long as the caller keeps them. */
export type Credential =
  | { readonly type: 'none' }
  | { readonly type: 'bearer'; readonly token: string }
  | { readonly type: 'hmac'; readonly webhook: Webhook }
  /** Presented by the connection, not by a header; `id` identifies the certificate. */
  | { readonly type: 'mtls'; readonly certificate: string; readonly key: string; readonly id: string }
  | { readonly type: 'sigv4'; readonly region: string; readonly service: string; readonly keys: AccessKeys };

interface AccessKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export const noCredential: Credential = { type: 'none' };

/**
 * Takes the values in the order of `secretNamesOf`.
 * @throws Fault SECRET_UNUSABLE when a value does not have the form that this kind of credential needs.
 */
export function toCredential(auth: ToolServerAuth, [secret = '', second = '']: readonly string[]): Credential {
  switch (auth.type) {
    case 'bearer':
      if (!isHeaderValue(secret))
        throw new Fault('SECRET_UNUSABLE', 'a token must not have line breaks, or other characters that no header has');
      return { type: 'bearer', token: secret };
    case 'hmac':
      return toHmac(secret);
    case 'mtls':
      return toClientCertificate(secret, second);
    case 'sigv4':
      return { type: 'sigv4', region: auth.region, service: auth.service, keys: toAccessKeys(secret) };
  }
}

/** Whether a header can carry a text: without this a line break at its end would fail every request at the socket. */
export const isHeaderValue = (text: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(text);

/** Judged as the connection would, which fails like one to a server that is away. */
function toClientCertificate(certificate: string, key: string): Credential {
  try {
    createSecureContext({ cert: certificate, key });
  } catch {
    throw new Fault('SECRET_UNUSABLE', 'a client certificate and its key must be PEM, and belong together');
  }
  return { type: 'mtls', certificate, key, id: hash('sha256', certificate) };
}

/** `ACCESS_KEY_ID:SECRET_ACCESS_KEY`, optionally followed by another colon and a session token. */
function toAccessKeys(secret: string): AccessKeys {
  const [accessKeyId = '', secretAccessKey = '', ...token] = secret.split(':');
  if (accessKeyId === '' || secretAccessKey === '' || !isHeaderValue(secret))
    throw new Fault('SECRET_UNUSABLE', 'an access key secret is ACCESS_KEY_ID:SECRET_ACCESS_KEY[:SESSION_TOKEN]');
  return { accessKeyId, secretAccessKey, ...(token.length > 0 && { sessionToken: token.join(':') }) };
}

/** Standard Webhooks: `whsec_` and base64; the bytes of any other text are the key. */
function toHmac(secret: string): Credential {
  if (secret === '') throw new Fault('SECRET_UNUSABLE', 'a signing secret must not be empty');
  const isEncoded = /^whsec_(?=.{4})[A-Za-z0-9+/]+={0,2}$/.test(secret);
  const webhook = isEncoded ? new Webhook(secret) : new Webhook(Buffer.from(secret), { format: 'raw' });
  return { type: 'hmac', webhook };
}

/** Content type of every body that is sent to a tool server; signatures cover it. */
export const bodyType = 'application/json';

/** The parts of a request that a signature covers. */
export interface SignedRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly body: string;
}

/** Adds the headers (alternating names and values) that present the credential with this request. */
export function present(
  credential: Credential,
  headers: string[],
  messageId: string,
  request: SignedRequest,
  nowMs: number,
): void {
  const { body } = request;
  switch (credential.type) {
    case 'none':
    case 'mtls':
      return;
    case 'sigv4':
      headers.push(...signed(credential, request, nowMs));
      return;
    case 'bearer':
      headers.push('authorization', `Bearer ${credential.token}`);
      return;
    case 'hmac': {
      const timestamp = String(Math.floor(nowMs / 1_000));
      const signature = credential.webhook.sign(messageId, new Date(nowMs), body);
      headers.push('webhook-id', messageId, 'webhook-timestamp', timestamp, 'webhook-signature', signature);
    }
  }
}

/** AWS Signature Version 4 over method, path, host, date, body, and the body's type and length. */
function signed(
  { region, service, keys }: Extract<Credential, { type: 'sigv4' }>,
  { method, url, body }: SignedRequest,
  nowMs: number,
): readonly string[] {
  const date = new Date(nowMs).toISOString().replace(/[:-]|\.\d{3}/g, '');
  const request = aws4.sign(
    {
      ...{ method, service, region, body, host: url.host, path: `${url.pathname}${url.search}` },
      // Exactly what is sent; for a body without a type the signer would add a type of its own.
      headers: { Host: url.host, 'X-Amz-Date': date, ...(body === '' ? {} : { 'Content-Type': bodyType }) },
    },
    keys,
  );
  const added = Object.entries(request.headers ?? {}).filter(([name]) => /^(?:authorization|x-amz-.*)$/i.test(name));
  return added.flatMap(([name, value]) => [name.toLowerCase(), String(value)]);
}
