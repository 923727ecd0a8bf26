import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { noCredential, present, toCredential } from './credential.ts';

const headersOf = (...given: Parameters<typeof toCredential>): readonly string[] => {
  const headers: string[] = [];
  present(toCredential(...given), headers, 'call_1', '{"a":"☃"}', 1_700_000_000_999);
  return headers;
};

describe('a credential', () => {
  it('R42 bearer is the token', () => {
    expect(headersOf({ type: 'bearer', secret: 's' }, 'token')).toEqual(['authorization', 'Bearer token']);
  });

  it.each([
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64')],
    ['plain secret', Buffer.from('plain secret')],
  ])('R42 hmac signs id, time and body: %s', (secret, key) => {
    const signature = createHmac('sha256', key).update('call_1.1700000000.{"a":"☃"}').digest('base64');
    expect(headersOf({ type: 'hmac', secret: 's' }, secret)).toEqual([
      'webhook-id',
      'call_1',
      'webhook-timestamp',
      '1700000000',
      'webhook-signature',
      `v1,${signature}`,
    ]);
  });

  it('none adds nothing', () => {
    const headers: string[] = [];
    present(noCredential, headers, 'call_1', '', 0);
    expect(headers).toEqual([]);
  });
});
