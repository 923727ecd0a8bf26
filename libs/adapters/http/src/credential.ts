// What proves to a tool server that it is us who call: headers made from the registration's secret. R42
// Not here: keeping secrets; where a credential may go is decided by origin in tool-transport.ts.
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { ToolServerAuth } from '@dormouse/ports';

/** Secrets by value, for as long as the caller keeps them. */
export type Credential =
  | { readonly type: 'none' }
  | { readonly type: 'bearer'; readonly token: string }
  | { readonly type: 'hmac'; readonly key: KeyObject };

export const noCredential: Credential = { type: 'none' };

/** The kinds that this version can present. */
export type PresentableAuth = Extract<ToolServerAuth, { type: 'bearer' | 'hmac' }>;

export function toCredential(auth: PresentableAuth, secret: string): Credential {
  if (auth.type === 'bearer') return { type: 'bearer', token: secret };
  // Standard Webhooks: `whsec_` and base64; anything else is taken as the key itself.
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  return { type: 'hmac', key: createSecretKey(encoded ?? secret, encoded === undefined ? 'utf8' : 'base64') };
}

/** Adds the headers (names and values in turn) that present the credential with this body. */
export function present(
  credential: Credential,
  headers: string[],
  messageId: string,
  body: string,
  nowMs: number,
): void {
  switch (credential.type) {
    case 'none':
      return;
    case 'bearer':
      headers.push('authorization', `Bearer ${credential.token}`);
      return;
    case 'hmac': {
      const timestamp = Math.floor(nowMs / 1_000);
      const signature = createHmac('sha256', credential.key)
        .update(`${messageId}.${timestamp}.${body}`)
        .digest('base64');
      headers.push(
        'webhook-id',
        messageId,
        'webhook-timestamp',
        String(timestamp),
        'webhook-signature',
        `v1,${signature}`,
      );
    }
  }
}
