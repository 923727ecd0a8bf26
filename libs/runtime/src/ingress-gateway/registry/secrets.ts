// Secrets: write-only, sealed by the host, usable only towards the origins they name.
//
// Invariants:
//   S1. The value passes through here once, on its way to the seal; it is never read back, logged or returned.
//   S3. A secret that names no origin goes to the standard address of the provider that it is named like; another one
//       goes nowhere: signatures of deliveries are checked with it.
//   S2. A secret that a tool server, a source or an agent's latest version uses is not deleted.
import { type Page, type PageRequest, type SealedSecret, secretNamesOf, type TenantId } from '@dormouse/ports';
import { everyItem } from '../../every-item.ts';
import type { IngressParts } from '../ingress-ports.ts';
import { answered, type Answered, notFound, refused } from '../refusal.ts';
import { cutPage } from '../read/whole-list.ts';

export interface SecretApi {
  /** `origins`: null for the standard one of this name. (S3) */
  put(tenant: TenantId, name: string, value: string, origins: readonly string[] | null): Promise<Answered<null>>;
  list(tenant: TenantId, page: PageRequest): Promise<Page<SealedSecret>>;
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

async function isUsed({ toolServers, sources, agents }: SecretPorts, tenant: TenantId, name: string): Promise<boolean> {
  for await (const { auth } of everyItem(pageLimit, (page) => toolServers.list(tenant, page)))
    if (auth !== null && secretNamesOf(auth).includes(name)) return true;
  for await (const { secret } of everyItem(pageLimit, (page) => sources.list(tenant, page)))
    if (secret === name) return true;
  for await (const { model } of everyItem(pageLimit, (page) => agents.list(tenant, page)))
    if ((model.apiKeySecret ?? model.provider) === name) return true;
  return false;
}
