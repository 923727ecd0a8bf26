import { describe, expect, it } from 'vitest';
import { judgeAddress } from './ip-address.ts';
import { isAllowed, parseOutboundAllow } from './outbound-allow.ts';
import { readUrl } from './outbound-guard.ts';

/** Whether `url`, whose name has `address`, may be called under `rules`. */
function allowed(rules: string, url: string, address: string): boolean {
  const read = readUrl(url);
  const judged = judgeAddress(address);
  if (typeof read === 'string' || judged === null) throw new Error(`${url} ${address}`);
  const parsed = parseOutboundAllow(rules);
  expect(parsed.problems).toEqual([]);
  const scheme = read.protocol === 'https:' ? 'https:' : 'http:';
  const port = read.port === '' ? (scheme === 'https:' ? 443 : 80) : Number(read.port);
  return isAllowed(parsed.rules, { scheme, host: read.hostname.replace(/^\[|\]$/g, ''), port }, judged);
}

describe('the outbound allow-list', () => {
  it.each([
    ['', 'https://a.example', '93.184.216.34', true],
    ['', 'https://a.example:8443', '2606:2800:220:1::1', true],
    ['', 'http://a.example', '93.184.216.34', false],
    ['', 'https://a.example', '10.0.0.1', false],
    ['a.example', 'https://a.example', '10.0.0.1', true],
    ['a.example', 'https://b.a.example', '10.0.0.1', true],
    ['.a.example', 'https://b.a.example', '10.0.0.1', true],
    ['*.a.example', 'https://A.Example.', '10.0.0.1', true],
    ['a.example', 'https://ba.example', '10.0.0.1', false],
    ['a.example', 'https://a.example.evil.example', '10.0.0.1', false],
    ['a.example', 'http://a.example', '10.0.0.1', false],
    ['http://a.example', 'http://a.example', '10.0.0.1', true],
    ['http://a.example', 'https://a.example', '10.0.0.1', true],
    ['http://a.example', 'http://a.example', '93.184.216.34', true],
    ['http://a.example:8080', 'http://a.example:8080', '10.0.0.1', true],
    ['http://a.example:8080', 'http://a.example:8081', '10.0.0.1', false],
    ['a.example:443', 'https://a.example', '10.0.0.1', true],
    ['http://a.example:80', 'http://a.example', '10.0.0.1', true],
    ['10.0.0.0/8', 'https://a.example', '10.255.0.1', true],
    ['10.0.0.0/8', 'https://a.example', '11.0.0.1', true],
    ['10.0.0.0/8', 'https://a.example', '192.168.0.1', false],
    ['http://10.0.0.0/8:9000', 'http://10.1.2.3:9000', '10.1.2.3', true],
    ['http://10.0.0.0/8:9000', 'http://10.1.2.3:9001', '10.1.2.3', false],
    ['http://127.0.0.1', 'http://127.0.0.1:5000', '127.0.0.1', true],
    ['http://127.0.0.1', 'http://[::ffff:127.0.0.1]:5000', '::ffff:127.0.0.1', true],
    ['http://127.0.0.1', 'http://127.0.0.2:5000', '127.0.0.2', false],
    ['http://127.0.0.0/8,http://[::1]', 'http://[::1]:5000', '::1', true],
    ['http://::1', 'http://[::1]:5000', '::1', true],
    ['http://[fd00::/8]:5000', 'http://[fd12::1]:5000', 'fd12::1', true],
    ['fd00::/8', 'https://[fd12::1]', 'fd12::1', true],
    ['http://0.0.0.0/0,http://::/0', 'http://169.254.169.254', '169.254.169.254', false],
    ['http://0.0.0.0/0,http://::/0,http://a.example', 'http://a.example', '169.254.169.254', false],
    ['http://0.0.0.0/0,http://::/0', 'http://[fd00:ec2::254]', 'fd00:ec2::254', false],
    ['http://0.0.0.0/0,http://::/0', 'http://0.0.0.0', '0.0.0.0', false],
    ['64:ff9b::/96', 'https://a.example', '64:ff9b::5db8:d822', true],
    ['a.example', 'https://a.example', '64:ff9b::5db8:d822', false],
    ['64:ff9b::/96', 'https://a.example', '64:ff9b::10.0.0.1', false],
    ['64:ff9b::/96,10.0.0.0/8', 'https://a.example', '64:ff9b::10.0.0.1', true],
    ['64:ff9b::/96,169.254.0.0/16', 'https://a.example', '64:ff9b::169.254.169.254', false],
  ])('%j lets %s at %s through: %s', (rules, url, address, expected) => {
    expect(allowed(rules, url, address)).toBe(expected);
  });

  it('reads a list, and says which entries it could not read', () => {
    const { rules, problems } = parseOutboundAllow(' a.example , ,http://10.0.0.0/8:80,https://b.example,');
    expect(rules.map(({ text }) => text)).toEqual(['a.example', 'http://10.0.0.0/8:80', 'https://b.example']);
    expect(problems).toEqual([]);
    const wrong = [
      'a b',
      'ftp://a',
      'a:0',
      'a:99999',
      '10.0.0.0/33',
      '10.0.0',
      '10.0.0/8',
      '0x0a.0.0.0/8',
      '1.2.3.4.5',
      '[::1',
      'http://',
      'a/b',
      '*',
      'a.example:x',
      '[a.example]',
      'ex*ample',
    ];
    expect(parseOutboundAllow(wrong.join(',')).rules).toEqual([]);
    expect(parseOutboundAllow(wrong.join(',')).problems).toHaveLength(wrong.length);
  });
});
