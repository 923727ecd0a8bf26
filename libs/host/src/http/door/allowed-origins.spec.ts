import { describe, expect, it } from 'vitest';
import { parseAllowedOrigins } from './allowed-origins.ts';

const list = 'https://app.example.com, http://localhost:5173,https://*.Shop.example:8443';

describe('allowed origins', () => {
  it.each([
    ['https://app.example.com', true],
    ['https://app.example.com:443', false], // browsers leave the usual port out
    ['http://app.example.com', false],
    ['https://app.example.com:8443', false],
    ['https://app.example.com.evil.example', false],
    ['https://evil.example/https://app.example.com', false],
    ['http://localhost:5173', true],
    ['http://localhost:5174', false],
    ['https://a.shop.example:8443', true],
    ['https://a.b.shop.example:8443', true],
    ['https://shop.example:8443', false],
    ['https://evilshop.example:8443', false],
    ['https://a.shop.example', false],
    ['http://a.shop.example:8443', false],
    ['https://a@b.shop.example:8443', false],
    ['null', false],
    ['', false],
    ['*', false],
  ])('judges %s', (origin, allowed) => {
    const { origins, problems } = parseAllowedOrigins(list);
    expect(problems).toEqual([]);
    expect(origins.listed).toEqual(
      list
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== ''),
    );
    expect(origins.allows(origin)).toBe(allowed);
  });

  it.each([
    '*',
    'https://*',
    'https://*.com',
    'https://a.*.example',
    'app.example.com',
    'https://a.example/path',
    'ws://a.example',
  ])('refuses the entry %s, and names its place', (entry) => {
    expect(parseAllowedOrigins(`https://good.example,${entry}`).problems).toEqual([
      'entry 2 is no origin, such as https://app.example.com or https://*.example.com',
    ]);
  });

  it('allows none by default', () => {
    expect(parseAllowedOrigins('').origins.allows('https://app.example.com')).toBe(false);
  });
});
