// Loads the toolsets of a thread: all servers at once, and always an answer, whatever they do.
// RAP toolsets, Caching and Several toolsets. Not here: what the thread does with it.
//
// Invariants:
//   L1. One answer per load, under the id of the load; answering again changes nothing.
//   L2. A server that cannot be reached gives its last good manifest, marked stale; an invalid or forbidden one gives
//       nothing, because it is not absent but wrong. R19, R25
//   L3. A name that two servers offer, or that is ours, is offered by neither. R21, R72
//   L4. Annotations make delivery stricter; only a trusted server may relax it.
//   L5. A server that is paused is not asked: it gives its last good manifest, marked stale. Its calls wait.
import { canonicalJson } from '@dormouse/json';
import { hash } from 'node:crypto';
import type { Owed, TenantId, ToolServer } from '@dormouse/ports';
import { injectedEventToolName, isBuiltInToolName, type Tool } from '@dormouse/protocol';
import {
  inputIds,
  type LoadedToolset,
  type LoadToolsets,
  type RejectedToolset,
  type ToolsetsResult,
  type WithheldTool,
} from '@dormouse/thread';
import type { Manifest, Manifests } from './manifest.ts';
import { atAddress, type Registrations } from '../registrations.ts';

interface Offer {
  readonly server: ToolServer;
  readonly manifest: Manifest;
  readonly stale: boolean;
}

type Found = Offer | RejectedToolset;

/** @throws Fault when a store fails. */
export async function loadToolsets(
  deps: { readonly registrations: Registrations; readonly manifests: Manifests },
  load: Owed<LoadToolsets>,
): Promise<ToolsetsResult> {
  const { tenant, effect } = load;
  const names = [...new Set(effect.toolServers)];
  const found = await Promise.all(names.map((name) => find(deps, tenant, name, effect)));
  const offers = found.filter((one): one is Offer => 'manifest' in one);
  const rejected = found.filter((one): one is RejectedToolset => 'code' in one);
  const withheld = withheldTools(offers);
  const withheldNames = new Set(withheld.map(({ tool }) => tool));
  return {
    kind: 'ToolsetsResult',
    id: inputIds.toolsets(effect.loadId), // (L1)
    loadId: effect.loadId,
    toolsets: offers.map((offer) => loaded(offer, withheldNames)),
    withheld,
    rejected,
  };
}

async function find(
  { registrations, manifests }: Parameters<typeof loadToolsets>[0],
  tenant: TenantId,
  name: string,
  effect: LoadToolsets,
): Promise<Found> {
  const unreachable = (problem: string) =>
    ({ toolServer: name, code: 'TOOLSET_UNREACHABLE', problems: [problem] }) as const;
  const registered = await registrations.get(tenant, name);
  if (registered === null) return unreachable('the tool server is not registered');
  const server = atAddress(registered, effect);
  if (server.paused) {
    const manifest = await manifests.lastGood(server); // (L5)
    return manifest === null
      ? unreachable('the tool server is paused by an operator')
      : { server, manifest, stale: true };
  }
  const fetched = await (effect.afterChange === true ? manifests.fetchChanged(server) : manifests.fetch(server));
  if (fetched.ok) return { server, manifest: fetched.manifest, stale: false };
  if (fetched.rejection.code === 'TOOLSET_UNREACHABLE') {
    const manifest = await manifests.lastGood(server); // (L2)
    if (manifest !== null) return { server, manifest, stale: true };
  }
  return { toolServer: name, ...fetched.rejection };
}

function withheldTools(offers: readonly Offer[]): readonly WithheldTool[] {
  const offeredBy = new Map<string, string[]>();
  for (const { server, manifest } of offers) {
    for (const { name } of manifest.toolset.tools) offeredBy.set(name, [...(offeredBy.get(name) ?? []), server.name]);
  }
  return [...offeredBy].flatMap(([tool, servers]): readonly WithheldTool[] => {
    if (isBuiltInToolName(tool) || tool === injectedEventToolName)
      return [{ tool, reason: `the name is reserved; offered by ${listed(servers)}` }]; // (L3)
    return servers.length > 1 ? [{ tool, reason: `offered by ${listed(servers)}` }] : [];
  });
}

const listed = (servers: readonly string[]): string => servers.map((name) => `"${name}"`).join(' and ');

function loaded({ server, manifest, stale }: Offer, withheld: ReadonlySet<string>): LoadedToolset {
  const { toolset } = manifest;
  const offered = toolset.tools.filter(({ name }) => !withheld.has(name));
  const namesOf = (tools: readonly Tool[]): readonly string[] => tools.map(({ name }) => name);
  return {
    toolServer: server.name,
    name: toolset.name,
    sha256: manifest.sha256,
    tools: namesOf(offered),
    definitions: offered.map(definitionOf),
    destructive: namesOf(offered.filter((tool) => tool.annotations?.destructive === true)),
    atMostOnce: namesOf(offered.filter((tool) => isAtMostOnce(tool, server))),
    stale,
  };
}

/** Enough to distinguish two definitions of one name. */
const definitionCharacters = 16;
const definitionOf = (tool: Tool): string => hash('sha256', canonicalJson(tool)).slice(0, definitionCharacters);

/** Destructive tools are sent at most once, unless a trusted server declares them repeatable. (L4) */
function isAtMostOnce({ annotations }: Tool, { trustAnnotations }: ToolServer): boolean {
  return annotations?.destructive === true && !(trustAnnotations && annotations.idempotent === true);
}
