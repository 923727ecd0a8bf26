import { describe, expect, it } from 'vitest';
import { certificateProblem } from './certificate-problem.ts';

const coded = (code: unknown, cause?: unknown): Error => Object.assign(new Error('x', { cause }), { code });

describe('what is wrong with a certificate', () => {
  it.each([
    ['CERT_HAS_EXPIRED', 'has expired'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'NODE_EXTRA_CA_CERTS'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'another host name'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'does not speak TLS'],
  ])('is said by its code: %s', (code, words) => {
    expect(certificateProblem(coded(code))).toContain(words);
  });

  it('is found below what was made of it', () => {
    expect(certificateProblem(coded(undefined, coded('E', coded('CERT_HAS_EXPIRED'))))).toContain('has expired');
  });

  it.each([null, 'CERT_HAS_EXPIRED', coded('ECONNREFUSED'), coded(11_000), {}])('is not seen in %s', (error) => {
    expect(certificateProblem(error)).toBeNull();
  });

  it('is not looked for without end', () => {
    const ring = coded('E');
    ring.cause = ring;
    expect(certificateProblem(ring)).toBeNull();
  });
});
