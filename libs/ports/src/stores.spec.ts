// The types are judged by `tsc -p tsconfig.spec.json`: a line below @ts-expect-error that compiles is an error there.
import { tenantId, type TenantId } from '@dormouse/thread';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Stores, ThreadKey } from './index.ts';

const acme = tenantId('acme');
const thread: string = 'thr_1';

type First<Method> = Method extends (first: infer Value, ...rest: never[]) => unknown ? Value : never;

/** Whether any text may stand where the rows of one tenant are named. */
type TakesText<Value> = unknown extends Value
  ? false
  : string extends Value
    ? true
    : Value extends { readonly tenant: infer Tenant }
      ? string extends Tenant
        ? true
        : false
      : Value extends readonly (infer Element)[]
        ? TakesText<Element>
        : false;

type Untenanted = {
  [Store in keyof Stores]: {
    [Method in keyof Stores[Store] & string]: true extends TakesText<First<Stores[Store][Method]>>
      ? `${Store}.${Method}`
      : never;
  }[keyof Stores[Store] & string];
}[keyof Stores];

/** What no credential of a tenant reaches: a key is looked up by its hash, and services list for every tenant. */
type OfInstallation =
  | 'apiKeys.bySha256'
  | 'apiKeys.used'
  | 'parked.parkedFor'
  | 'sources.byToken'
  | 'webhookReaders.release'
  | 'webhookReaders.renew';

describe('a query of the stores', () => {
  it('begins with a tenant, except those of the installation', () => {
    expectTypeOf<Untenanted>().toEqualTypeOf<OfInstallation>();
  });

  it('does not compile without a tenant, with a thread’s id or with a plain text', () => {
    const queries = (stores: Stores): readonly unknown[] => [
      stores.log.head({ tenant: acme, thread }),
      // @ts-expect-error -- no tenant
      stores.log.head({ thread }),
      // @ts-expect-error -- a thread's id in the place of the tenant
      stores.log.head({ tenant: thread, thread }),
      // @ts-expect-error -- a text
      stores.log.head({ tenant: 'acme', thread }),
      stores.secrets.get(acme, 'token'),
      // @ts-expect-error -- no tenant
      stores.secrets.get('token'),
      // @ts-expect-error -- a thread's id in the place of the tenant
      stores.secrets.get(thread, 'token'),
      // @ts-expect-error -- a text
      stores.secrets.get('acme', 'token'),
    ];
    expect(queries).toBeTypeOf('function'); // it is compiled, never called
  });

  it('takes a tenant’s id as a text, and no text as a tenant’s id', () => {
    expectTypeOf<TenantId>().toExtend<string>();
    expectTypeOf<string>().not.toExtend<TenantId>();
    expectTypeOf<'acme'>().not.toExtend<TenantId>();
    expectTypeOf<ThreadKey['tenant']>().toEqualTypeOf<TenantId>();
  });
});
