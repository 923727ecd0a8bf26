// Credentials of users in memory. Port: ports/registry/user-credentials.ts.
import type { TenantId, UserCredential, UserCredentials } from '@dormouse/ports';
import type { Passage } from '../../gate.ts';
import { replaceSeen, rising, rowsOf } from '../rows.ts';
import type { RegistryStore } from '../registry/registry.ts';

export function createUserCredentials({ userCredentials }: RegistryStore, passage: Passage): UserCredentials {
  const nameOf = (...parts: readonly string[]): string => JSON.stringify(parts);
  const own = ({ tenant, userId, toolServer }: UserCredential): string => nameOf(tenant, userId, toolServer);
  const ofTenant = (tenant: TenantId): readonly UserCredential[] =>
    rowsOf(userCredentials, tenant).toSorted(rising(own));
  return {
    put: (credential) =>
      passage.write(
        'userCredentials.put',
        credential.toolServer,
        () => void userCredentials.set(own(credential), credential),
      ),
    get: (tenant, userId, toolServer) =>
      passage.read(
        'userCredentials.get',
        toolServer,
        () => userCredentials.get(nameOf(tenant, userId, toolServer)) ?? null,
      ),
    list: (tenant, userId) =>
      passage.read('userCredentials.list', userId, () => ofTenant(tenant).filter((each) => each.userId === userId)),
    page: (tenant, after, limit) =>
      passage.read('userCredentials.page', tenant, () =>
        ofTenant(tenant)
          .filter((each) => after === null || own(each) > own(after))
          .slice(0, limit),
      ),
    replace: (credential, seen) =>
      passage.write('userCredentials.replace', credential.toolServer, () =>
        replaceSeen(userCredentials, own(credential), credential, seen),
      ),
    remove: (tenant, userId, toolServer) =>
      passage.write('userCredentials.remove', toolServer, () =>
        userCredentials.delete(nameOf(tenant, userId, toolServer)),
      ),
  };
}
