// Sources: who may send what, and what becomes of it.
//
// Invariants:
//   O1. A name is given once; the same source again is no change and shows its URL again, another one under a taken
//       name is refused.
//   O2. A source that could never bring anything is refused: its secret and its agent exist, and its expressions can be
//       read. While it is there, neither is deleted. (secrets S2)
//   O3. The token of its URL is random, and stored hashed and sealed.
//   O4. A tenant has `sourcesMax` of them at most; several that are made at once may pass it by their number.
import { canonicalJson, type Problem } from '@dormouse/json';
import { type Page, type PageRequest, type Source, sourceOwner, type TenantId } from '@dormouse/ports';
import type { IngressParts } from '../ingress-gateway/ingress-ports.ts';
import { publicId, timeSortedName } from '../ingress-gateway/access/client-id.ts';
import { answered, type Answered, invalid, notFound, refused } from '../ingress-gateway/refusal.ts';
import { unknownName } from '../ingress-gateway/registry/known-names.ts';
import { tokenHash } from './hooks.ts';
import { secretProblem } from './signature.ts';
import { keyProblem, templateProblem } from './template.ts';

export type SourceContent = Pick<Source, 'name' | 'kind' | 'secret' | 'agent' | 'key' | 'message'>;

export type ShownSource = SourceContent & Pick<Source, 'id' | 'createdAt'>;

export interface SourceApi {
  create(
    tenant: TenantId,
    content: SourceContent,
  ): Promise<Answered<{ readonly source: ShownSource & { readonly url: string }; readonly created: boolean }>>;
  list(tenant: TenantId, page: PageRequest): Promise<Page<ShownSource>>;
  remove(tenant: TenantId, nameOrId: string): Promise<Answered<null>>;
}

/** Of a tenant. (O4) */
export const sourcesMax = 200;

export interface SourcePorts extends Pick<
  IngressParts,
  'sources' | 'secrets' | 'agents' | 'sealer' | 'clock' | 'entropy'
> {
  /** `https://host[/prefix]`: where senders reach this installation. */
  readonly publicBase: string;
}

export function createSourceApi(ports: SourcePorts): SourceApi {
  const { sources, sealer, clock, entropy } = ports;
  const base = ports.publicBase.replace(/\/+$/, '');
  const withUrl = (source: Source) => {
    const token = sealer.open(sourceOwner(source), source.sealedToken);
    return { ...shown(source), url: `${base}/hooks/${source.name}/${token}` };
  };
  /** A name that is there takes no more room. */
  async function isFull(tenant: TenantId, name: string): Promise<boolean> {
    const { data } = await sources.list(tenant, { limit: sourcesMax, cursor: null });
    return data.length >= sourcesMax && (await sources.get(tenant, name)) === null;
  }

  return {
    async create(tenant, given) {
      const agent = await ports.agents.latest(tenant, given.agent);
      const problems = await problemsOf(ports, tenant, given, agent !== null);
      if (agent === null || problems.length > 0) return invalid(problems);
      const content = { ...given, agent: agent.name };
      if (await isFull(tenant, content.name))
        return refused('TOO_MANY_SOURCES', `A tenant has at most ${sourcesMax} sources.`); // (O4)
      const now = clock.now();
      const id = publicId('src', timeSortedName(now, entropy.nonce()));
      const token = `${entropy.nonce()}${entropy.nonce()}`; // (O3)
      const sealedToken = sealer.seal(sourceOwner({ tenant, id }), token);
      const source: Source = { ...content, tenant, id, createdAt: now, tokenSha256: tokenHash(token), sealedToken };
      if (await sources.insert(source)) return answered({ source: withUrl(source), created: true });
      const existing = await sources.get(tenant, content.name);
      if (existing !== null && canonicalJson(contentOf(existing)) === canonicalJson(contentOf(content)))
        return answered({ source: withUrl(existing), created: false }); // (O1)
      return refused('ALREADY_EXISTS', 'Another source has this name.');
    },
    async list(tenant, page) {
      const { data, nextCursor } = await sources.list(tenant, page);
      return { data: data.map(shown), nextCursor };
    },
    async remove(tenant, nameOrId) {
      const source = await sources.get(tenant, nameOrId);
      if (source === null || !(await sources.remove(tenant, source.name))) return notFound('source');
      return answered(null);
    },
  };
}

const contentOf = ({ name, kind, secret, agent, key, message }: SourceContent): SourceContent => ({
  ...{ name, kind, secret, agent, key, message },
});

const shown = (source: Source): ShownSource => ({
  ...{ id: source.id, ...contentOf(source), createdAt: source.createdAt },
});

/** (O2) */
async function problemsOf(
  { secrets, agents, sealer }: SourcePorts,
  tenant: TenantId,
  { kind, secret: name, agent, key, message }: SourceContent,
  hasAgent: boolean,
): Promise<readonly Problem[]> {
  const secret = await secrets.get(tenant, name);
  const secretDetail =
    secret === null ? 'no secret has this name' : secretProblem(kind, sealer.open({ tenant, name }, secret.sealed));
  const agentDetail = hasAgent ? null : await unknownName('agent', agent, (page) => agents.list(tenant, page));
  return [
    { pointer: '/secret', detail: secretDetail },
    { pointer: '/agent', detail: agentDetail },
    { pointer: '/key', detail: keyProblem(key) },
    { pointer: '/message', detail: templateProblem(message) },
  ].flatMap(({ pointer, detail }) => (detail === null ? [] : [{ pointer, detail }]));
}
