import { createHmac } from 'node:crypto';
import type { ToolServerAuth } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { noCredential, present, toCredential } from './credential.ts';

const request = { method: 'POST', url: new URL('https://tools.example/invoke'), body: '{"a":"☃"}' } as const;
const headersOf = (auth: ToolServerAuth, ...values: readonly string[]): readonly string[] => {
  const headers: string[] = [];
  present(toCredential(auth, values), headers, 'call_1', request, 1_700_000_000_999);
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

  it('R42 hmac signs as the published vector of Standard Webhooks says', () => {
    const credential = toCredential({ type: 'hmac', secret: 's' }, ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw']);
    const headers: string[] = [];
    const vector = { ...request, body: '{"test": 2432232314}' };
    present(credential, headers, 'msg_p5jXN8AQM9LWM0D4loKWxJek', vector, 1_614_265_330_000);
    expect(headers.at(-1)).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('none adds nothing', () => {
    const headers: string[] = [];
    present(noCredential, headers, 'call_1', request, 0);
    expect(headers).toEqual([]);
  });

  const unreserved = '-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  it.each([
    ['GET', '', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    ['POST', '', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    ['GET', '?Param2=value2&Param1=value1', 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500'],
    ['GET', '?\u1234=bar', '2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04'],
    ['GET', `?${unreserved}=${unreserved}`, '9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197'],
  ] as const)('R42 sigv4 signs as the published vectors say: %s /%s', (method, query, signature) => {
    const auth = { type: 'sigv4', region: 'us-east-1', service: 'service', accessKeySecret: 's' } as const;
    const credential = toCredential(auth, ['AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY']);
    const headers: string[] = [];
    const vector = { method, url: new URL(`https://example.amazonaws.com/${query}`), body: '' };
    present(credential, headers, 'call_1', vector, Date.parse('2015-08-30T12:36:00Z'));
    expect(headers).toEqual([
      'x-amz-date',
      '20150830T123600Z',
      'authorization',
      `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`,
    ]);
  });

  it('sigv4 refuses a secret that is not an access key', () => {
    const auth = { type: 'sigv4', region: 'r', service: 's', accessKeySecret: 's' } as const;
    expect(() => toCredential(auth, ['only-one-part'])).toThrow('ACCESS_KEY_ID:SECRET_ACCESS_KEY');
  });

  it('mtls adds no header: the connection presents it', () => {
    const headers: string[] = [];
    present({ type: 'mtls', certificate: 'c', key: 'k', id: 'i' }, headers, 'call_1', request, 0);
    expect(headers).toEqual([]);
  });
});
