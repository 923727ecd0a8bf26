import { describe, expect, it } from 'vitest';
import { parseOutboundAllow } from './outbound-allow.ts';
import { createOutboundGuard, readUrl, type GuardVerdict, type Resolver } from './outbound-guard.ts';

const names: Readonly<Record<string, readonly string[]>> = {
  'good.example': ['93.184.216.34', '2606:2800:220:1::1'],
  'mixed.example': ['93.184.216.34', '127.0.0.1'],
  'inside.example': ['10.0.0.7'],
  'metadata.example': ['169.254.169.254'],
  'strange.example': ['not an address'],
  'empty.example': [],
};
const resolver: Resolver = async (host) => {
  const found = names[host];
  if (found === undefined) throw Object.assign(new Error('no'), { code: 'ENOTFOUND' });
  return found;
};

function check(url: string, rules = '', given = resolver): Promise<GuardVerdict> {
  const read = readUrl(url);
  if (typeof read === 'string') throw new Error(read);
  return createOutboundGuard({ rules: parseOutboundAllow(rules).rules, resolver: given, resolveTimeoutMs: 20 }).check(
    read,
  );
}

describe('the outbound guard', () => {
  it('pins every address of a good name', async () => {
    expect(await check('https://good.example/x')).toEqual({
      ok: true,
      literal: false,
      addresses: [
        { address: '93.184.216.34', family: 4 },
        { address: '2606:2800:220:1:0:0:0:1', family: 6 },
      ],
    });
  });

  it('resolves nothing for a literal', async () => {
    const never: Resolver = () => Promise.reject(new Error('asked'));
    expect(await check('https://93.184.216.34/x', '', never)).toMatchObject({ ok: true, literal: true });
    expect(await check('http://[::1]:5000/', 'http://[::1]', never)).toMatchObject({ ok: true, literal: true });
  });

  it('R41 speaks plain http only where the installation says so', async () => {
    expect(await check('http://good.example')).toMatchObject({ ok: false, code: 'OUTBOUND_FORBIDDEN' });
    expect(await check('http://good.example', 'good.example')).toMatchObject({ ok: false, code: 'OUTBOUND_FORBIDDEN' });
    expect(await check('http://good.example', 'http://good.example')).toMatchObject({ ok: true });
  });

  it('G1 refuses a name of which one address is bad', async () => {
    expect(await check('https://mixed.example')).toMatchObject({ ok: false, code: 'OUTBOUND_FORBIDDEN' });
  });

  it.each(['inside.example', 'metadata.example', 'strange.example'])('refuses %s', async (name) => {
    expect(await check(`https://${name}`)).toMatchObject({ ok: false, code: 'OUTBOUND_FORBIDDEN' });
  });

  it('G3 never says what a name resolved to', async () => {
    expect(JSON.stringify(await check('https://inside.example'))).not.toContain('10.0.0.7');
  });

  it('allows what the installation allows, metadata never', async () => {
    expect(await check('http://inside.example', 'http://inside.example')).toMatchObject({ ok: true });
    expect(await check('http://metadata.example', 'http://metadata.example,http://0.0.0.0/0')).toMatchObject({
      ok: false,
      code: 'OUTBOUND_FORBIDDEN',
    });
  });

  it.each([
    ['unknown.example', resolver],
    ['empty.example', resolver],
    ['slow.example', () => new Promise<readonly string[]>(() => {})],
  ])('G4 a name that cannot be resolved is worth another try: %s', async (name, given) => {
    expect(await check(`https://${name}`, '', given)).toMatchObject({ ok: false, code: 'NAME_NOT_RESOLVED' });
  });
});

describe('reading a URL', () => {
  it.each([
    'ftp://a.example',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/plain,x',
    'a.example',
    '//a.example',
    '',
    'http://',
    'https://user@a.example',
    'https://user:password@a.example',
    'https://:password@a.example',
    'https://a.example\\@b.example',
    'https://a.example/\r\nHost: b',
    'https://a .example',
    'https://a.example:22',
    'https://a.example:6000',
    'http://a.example:25',
    'https://a.example:0',
    'https://a.example:99999',
    'http://[fe80::1%25lo]/',
    `https://a.example/${'x'.repeat(8_200)}`,
  ])('refuses %j', (text) => {
    expect(typeof readUrl(text)).toBe('string');
  });

  it.each(['https://a.example', 'http://a.example:8080/x?y=z#f', 'https://xn--bcher-kva.example/'])(
    'reads %s',
    (text) => {
      expect(readUrl(text)).toBeInstanceOf(URL);
    },
  );
});
