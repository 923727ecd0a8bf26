// Secrets: write-only, sealed by the host, usable only towards the origins they name.
//
// Invariants:
//   S1. The value passes through here once, on its way to the seal; it is never read back, logged or returned.
//   S3. A secret that names no origin goes to the standard address of the provider that it is named like; another one
//       goes nowhere: signatures of deliveries are checked with it.
//   S2. A secret that a tool server, a source or an agent's latest version uses is not deleted.
import { type Page, type PageRequest, type SealedSecret, secretNamesOf, type TenantId } from '@dormouse/ports';
import type { IngressParts } from '../ingress-ports.ts';
import { answered, type Answered, notFound, refused } from '../refusal.ts';
import type { ListPage } from '../read/thread-page.ts';
import { cutPage } from '../read/whole-list.ts';

export interface SecretApi {
  /** `origins`: null for the standard one of this name. (S3) */
  put(tenant: TenantId, name: string, value: string, origins: readonly string[] | null): Promise<Answered<null>>;
  list(tenant: TenantId, page: PageRequest): Promise<ListPage<SealedSecret>>;
  remove(tenant: TenantId, name: string): Promise<Answered<null>>;
}

export type SecretPorts = Pick<
  IngressParts,
  'secrets' | 'agents' | 'toolServers' | 'sources' | 'clock' | 'sealer' | 'secretOrigins'
>;

const pageLimit = 200;

export function createSecretApi(ports: SecretPorts): SecretApi {
  const { secrets, clock, sealer } = ports;
  return {
    async put(tenant, name, value, given) {
      const origins = given ?? standardOrigins(ports, name);
      const sealed = sealer.seal({ tenant, name }, value);
      await secrets.put({ tenant, name, origins, sealed, createdAt: clock.now() });
      return answered(null);
    },
    list: async (tenant, page) => cutPage(await secrets.list(tenant), page, ({ name }) => [name]),
    async remove(tenant, name) {
      if ((await secrets.get(tenant, name)) === null) return notFound('secret');
      if (await isUsed(ports, tenant, name))
        return refused('SECRET_IN_USE', 'A tool server, a source or an agent uses this secret.'); // (S2)
      await secrets.remove(tenant, name);
      return answered(null);
    },
  };
}

/** (S3) */
function standardOrigins({ secretOrigins = {} }: SecretPorts, name: string): readonly string[] {
  const origin = Object.hasOwn(secretOrigins, name) ? secretOrigins[name] : undefined;
  return origin === undefined ? [] : [origin];
}

async function isUsed(ports: SecretPorts, tenant: TenantId, name: string): Promise<boolean> {
  const inServers = await some(
    (cursor) => ports.toolServers.list(tenant, { limit: pageLimit, cursor }),
    ({ auth }) => auth !== null && secretNamesOf(auth).includes(name),
  );
  const inSources = await some(
    (cursor) => ports.sources.list(tenant, { limit: pageLimit, cursor }),
    ({ secret }) => secret === name,
  );
  return (
    inServers ||
    inSources ||
    (await some(
      (cursor) => ports.agents.list(tenant, { limit: pageLimit, cursor }),
      ({ model }) => (model.apiKeySecret ?? model.provider) === name,
    ))
  );
}

/** Whether any item of the whole list is such a one. */
export async function some<T>(
  load: (cursor: string | null) => Promise<Page<T>>,
  holds: (item: T) => boolean,
): Promise<boolean> {
  let cursor: string | null = null;
  do {
    const page: Page<T> = await load(cursor);
    if (page.data.some(holds)) return true;
    cursor = page.nextCursor;
  } while (cursor !== null);
  return false;
}
