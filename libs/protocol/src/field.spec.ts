import { describe, expect, it } from 'vitest';
import { urlField } from './field.ts';

describe('an absolute http or https URL', () => {
  it.each([
    'http://a',
    'https://example.com/a?b=c#d',
    'HTTP://A/',
    'http://é.com/',
    'http://[::1]:8080/',
    'http://u:p@a/',
    `http://a/${'x'.repeat(2_000)}`,
  ])('is kept as it was spelled: %s', (text) => {
    expect(urlField.parse(text)).toBe(text);
  });

  it.each([
    '',
    'a',
    '//a',
    'http:a',
    'http:example.com',
    'https:/a',
    'http://',
    'http://[::1',
    'http://256.1.1.1',
    'http://a:65536',
    'ftp://a',
    'httpſ://a',
    'javascript:alert(1)',
    ' http://a',
    'http://a\n',
    'http://a/\u0085',
    'http://a b',
  ])('is not %j', (text) => {
    expect(urlField.safeParse(text).success).toBe(false);
  });
});
