import { sourceKinds, type SourceKind } from '@dormouse/ports';
import fc from 'fast-check';
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { isSigned, secretProblem, type SignedDelivery } from './signature.ts';

const now = Date.UTC(2026, 10, 27, 12);
const nowS = now / 1_000;
const secret = `whsec_${Buffer.from('a secret of twenty-four b').toString('base64')}`;
const mac = (text: string): string => createHmac('sha256', secret).update(text).digest('hex');

/** A delivery as its sender signs it. */
function signed(kind: SourceKind, body: string, at = nowS): SignedDelivery {
  const headers: Record<SourceKind, Record<string, string>> = {
    github: { 'x-hub-signature-256': `sha256=${mac(body)}` },
    stripe: { 'stripe-signature': `t=${at},v1=${mac(`${at}.${body}`)}` },
    slack: { 'x-slack-request-timestamp': String(at), 'x-slack-signature': `v0=${mac(`v0:${at}:${body}`)}` },
    standard: {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(at),
      'webhook-signature': new Webhook(secret).sign('msg_1', new Date(at * 1_000), body),
    },
  };
  return { headers: headers[kind], body: Buffer.from(body) };
}

const accepts = (kind: SourceKind, delivery: SignedDelivery, by = secret): boolean => isSigned(kind, by, delivery, now);

describe.each(sourceKinds)('a delivery of the kind %s', (kind) => {
  const body = fc.json().map((value) => `{"value":${value}}`);

  it('(G1) is accepted as it was signed', () => {
    fc.assert(fc.property(body, (text) => accepts(kind, signed(kind, text))));
  });

  it('(G1) is refused with any bit of body or signature flipped', () => {
    fc.assert(
      fc.property(body, fc.nat(), fc.nat({ max: 7 }), fc.boolean(), (text, place, bit, inBody) => {
        const { headers, body: bytes } = signed(kind, text);
        const names = Object.keys(headers);
        const name = names[place % names.length] ?? '';
        const target = inBody ? Buffer.from(bytes) : Buffer.from(String(headers[name]));
        const at = place % target.length;
        target[at] = (target[at] ?? 0) ^ (1 << bit);
        const changed = inBody
          ? { headers, body: target }
          : { headers: { ...headers, [name]: target.toString('latin1') }, body: bytes };
        return !accepts(kind, changed);
      }),
      { numRuns: 500 },
    );
  });

  it('is refused with another secret, without its headers, and with each of them twice', () => {
    const delivery = signed(kind, '{}');
    const other = `whsec_${Buffer.from('another secret of the same').toString('base64')}`;
    expect(accepts(kind, delivery, other)).toBe(false);
    expect(accepts(kind, { ...delivery, headers: {} })).toBe(false);
    for (const name of Object.keys(delivery.headers)) {
      const { [name]: value, ...others } = delivery.headers;
      expect(accepts(kind, { ...delivery, headers: others })).toBe(false);
      expect(accepts(kind, { ...delivery, headers: { ...others, [name]: [String(value), String(value)] } })).toBe(
        false,
      );
      expect(accepts(kind, { ...delivery, headers: { ...others, [name]: '' } })).toBe(false);
    }
  });

  it('(G3) is refused when it is older or newer than five minutes, where a time is signed', () => {
    const isTimed = kind !== 'github';
    for (const [seconds, isNear] of [
      [-299, true],
      [299, true],
      [-301, false],
      [301, false],
      [-nowS + 1, false],
    ] as const)
      expect(accepts(kind, signed(kind, '{}', nowS + seconds))).toBe(isNear || !isTimed);
  });
});

describe('a signature', () => {
  it('of Stripe may be one of several, and its time is given once', () => {
    const good = mac(`${nowS}.{}`);
    const sent = (header: string): boolean =>
      accepts('stripe', { headers: { 'stripe-signature': header }, body: Buffer.from('{}') });
    expect(sent(`t=${nowS},v1=${'0'.repeat(64)},v1=${good},v0=${'1'.repeat(64)}`)).toBe(true);
    expect(sent(`t=${nowS},v0=${good}`)).toBe(false);
    expect(sent(`t=${nowS},t=${nowS},v1=${good}`)).toBe(false);
    expect(sent(`v1=${good}`)).toBe(false);
    expect(sent(`t=0${nowS},v1=${good}`)).toBe(false);
  });

  it('of Standard Webhooks may be one of several', () => {
    const { headers, body } = signed('standard', '{}');
    const both = { ...headers, 'webhook-signature': `v1,AAAA v1a,BBBB ${String(headers['webhook-signature'])}` };
    expect(accepts('standard', { headers: both, body })).toBe(true);
  });

  it('of Standard Webhooks is over text: bytes that are no UTF-8 are refused', () => {
    const { headers } = signed('standard', '{"a":"\u{fffd}"}');
    const broken = Buffer.from('{"a":"\u{fffd}"}').toString('latin1').replace('\u{ef}\u{bf}\u{bd}', '\u{ff}');
    expect(accepts('standard', { headers, body: Buffer.from(broken, 'latin1') })).toBe(false);
  });

  it('of Standard Webhooks needs a secret of its form', () => {
    expect(secretProblem('standard', 'not base64!')).toContain('whsec_');
    expect(secretProblem('standard', secret)).toBeNull();
    expect(secretProblem('github', 'anything')).toBeNull();
    expect(accepts('standard', signed('standard', '{}'), 'not base64!')).toBe(false);
  });
});
