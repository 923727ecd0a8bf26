import { describe, expect, it } from 'vitest';
import { filesBelow } from './source-file.ts';
import { makersOf, tenantIdLine, unusedMakers } from './tenant-id.ts';

const house = filesBelow('libs', 'apps');

describe("a tenant's id", () => {
  it('is made where the text was checked, or comes from a store of ours, and nowhere else', () => {
    expect(house.length).toBeGreaterThan(30);
    expect(tenantIdLine(house)).toEqual([]);
    expect(unusedMakers(house)).toEqual([]);
    expect(Object.keys(makersOf).length).toBeLessThanOrEqual(25);
  });

  it.each([
    `const tenant = tenantId(request.body.tenant);`,
    `const tenant = storedTenantId(thread);`,
    `const tenant = parseTenantId(agent) ?? localTenant;`,
    `const ids = names.map(storedTenantId);`,
    `const tenant = thread as TenantId;`,
    `const key = read as { readonly tenant: TenantId };`,
    `const tenant = thread as unknown as TenantId;`,
  ])('is not made by %s', (text) => {
    expect(tenantIdLine([{ path: 'libs/runtime/src/a.ts', text }])).toHaveLength(1);
  });

  it('is made by the makers that a file is allowed, and by no other one', () => {
    const file = { path: 'libs/runtime/src/a.ts', text: `const one = storedTenantId(a); const two = tenantId(b);` };
    expect(tenantIdLine([file], { [file.path]: ['storedTenantId'] })).toEqual([
      `libs/runtime/src/a.ts:1 makes a tenant's id with tenantId`,
    ]);
  });

  it('is taken, named and asked for without a complaint', () => {
    const text = `import { storedTenantId, type TenantId } from '@dormouse/ports'; const of = (tenant: TenantId) => tenant;`;
    expect(tenantIdLine([{ path: 'libs/runtime/src/a.ts', text }])).toEqual([]);
  });

  it('is not on the list of a file that makes none', () => {
    expect(unusedMakers([], { 'libs/runtime/src/a.ts': ['tenantId'] })).toEqual(['libs/runtime/src/a.ts: tenantId']);
  });
});
