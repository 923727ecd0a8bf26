import { describe, expect, it } from 'vitest';
import { localTenant, noTenant, parseTenantId, platformTenant, tenantId } from './tenant-id.ts';

describe("a tenant's id", () => {
  it.each(['a', 'acme', '0-9', 'a'.repeat(63), localTenant])('may be %s', (text) => {
    expect(tenantId(text)).toBe(text);
  });

  it.each(['', 'Acme', '-a', 'a b', 'a/b', 'a:b', 'a\n', 'ä', 'a'.repeat(64), 'thr_1'])('is never %j', (text) => {
    expect(parseTenantId(text)).toBeNull();
    expect(() => tenantId(text)).toThrow(/is not a tenant's id/);
  });

  it.each([platformTenant, noTenant])('is never %j, which stands for no tenant', (text) => {
    expect(parseTenantId(text)).toBeNull();
  });
});
