// A tool server's manifest: fetched, judged, stored by the hash of its canonical JSON, and read again by that hash.
// RAP toolsets. Not here: which tools of several servers a thread gets (toolset-loader.ts).
//
// Invariants:
//   M1. The only source is `{base}/.well-known/rap-toolset`. R16, R17
//   M2. A manifest is taken whole or not at all, and its content is data: nothing in it is run. R19, R31
//   M3. A manifest that differs from its pin is not used and not remembered. R30
//   M4. "Last good" is kept by base URL: another address is another server. It moves only after the manifest it names
//       is stored, and never by a probe: an address that is only looked at may be refused. R25
//   M5. However many calls a server answers 409 at once, its manifest is fetched once, and the loads that follow use
//       it. R107 All other loads fetch anew: a new family gets the current manifest. R24
//   M6. A manifest, however long, blocks no other work and cannot fill the memory: it is judged step by step, once for
//       all loads that meet it at the same time, and the kept manifests have a budget of estimated bytes.
import { type Problem, type Steps, canonicalizing, checkingJson, readJson, shortJsonCharacters } from '@dormouse/json';
import { createBoundedMap, createSharedReads } from '@dormouse/collections';
import { hash } from 'node:crypto';
import type { Clock, Logger, Toolsets, ToolServer, ToolTransport, TenantId } from '@dormouse/ports';
import { parsingToolset, toolServerUrl, type Toolset } from '@dormouse/protocol';
import type { RejectedToolset } from '@dormouse/thread';
import { inTurnsIf } from '../../in-turns.ts';

export interface Manifest {
  readonly sha256: string;
  readonly toolset: Toolset;
}

export type Rejection = Omit<RejectedToolset, 'toolServer'>;
export type Fetched =
  { readonly ok: true; readonly manifest: Manifest } | { readonly ok: false; readonly rejection: Rejection };

export interface Manifests {
  /** Fetches it from the server. Never throws because of a server's answer. @throws Fault when a store fails. */
  fetch(server: ToolServer): Promise<Fetched>;
  /** The same, and nothing is stored. (M4) */
  probe(server: ToolServer): Promise<Fetched>;
  /** The same after a 409: one fetch for all calls that were refused together. (M5) */
  fetchChanged(server: ToolServer): Promise<Fetched>;
  stored(tenant: TenantId, sha256: string): Promise<Manifest | null>;
  /** The last one that the server gave and that was good; null when there is none or it differs from the pin. */
  lastGood(server: ToolServer): Promise<Manifest | null>;
}

export interface ManifestsDeps {
  readonly toolsets: Toolsets;
  readonly transport: ToolTransport;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: { readonly discoveryTimeoutMs: number; readonly manifestBytesMax: number };
  /** Called after each fetch of a valid manifest that is used; never for a probe. */
  readonly discovered?: (server: ToolServer) => void;
}

const problemsShownMax = 20;
const keptMax = 500;
/** Of the manifests in each of the two memories. (M6) */
const keptBytesMax = 48 * 1_048_576;
/** How long a manifest that was fetched after a 409 counts as the newest one. */
const changedFreshMs = 1_000;

export function createManifests(deps: ManifestsDeps): Manifests {
  const { toolsets, transport, clock, logger, settings, discovered } = deps;
  /** By hash of the text: a manifest that has not changed is not judged again. */
  const judged = createBoundedMap<Judged>(keptBytesMax, ({ bytes }) => bytes);
  const judging = createSharedReads<Judgement>();
  const bySha256 = createBoundedMap<Omit<Judged, 'canonical'>>(keptBytesMax, ({ bytes }) => bytes);
  /** Families that begin together share one read of the store. */
  const lastGoodRead = createSharedReads<string | null>();
  const changed = createBoundedMap<{ readonly at: number; readonly fetched: Promise<Fetched> }>(keptMax);

  async function remember(server: ToolServer, canonical: string, manifest: Manifest): Promise<void> {
    const { tenant, name, baseUrl } = server;
    const last = await lastGoodRead(`${tenant} ${baseUrl}`, () => toolsets.lastGood(tenant, baseUrl));
    if (last === manifest.sha256) return;
    await toolsets.put({ tenant, sha256: manifest.sha256, manifest: canonical });
    await toolsets.putLastGood(tenant, baseUrl, manifest.sha256); // (M4)
    logger.info('toolset_learned', { tenant, toolServer: name, sha256: manifest.sha256 });
  }

  async function stored(tenant: TenantId, sha256: string): Promise<Manifest | null> {
    const known = bySha256.get(`${tenant} ${sha256}`);
    if (known !== undefined) return known.manifest;
    const row = await toolsets.get(tenant, sha256);
    if (row === null) return null;
    const read = judged.get(sha256) ?? (await judging(sha256, () => judge(row.manifest))); // its text is canonical
    if ('ok' in read) {
      readJson(row.manifest); // a row that is no JSON is a fault of the store
      return null; // stored by a release that judged otherwise
    }
    const manifest = { ...read.manifest, sha256 };
    return bySha256.set(`${tenant} ${sha256}`, { manifest, bytes: read.bytes }).manifest;
  }

  async function ask(server: ToolServer, isProbe = false): Promise<Fetched> {
    const url = toolServerUrl(server.baseUrl, 'discovery'); // (M1)
    const { discoveryTimeoutMs: timeoutMs, manifestBytesMax: bytesMax } = settings;
    const answer = await transport.get({ server, url, timeoutMs, bytesMax });
    if (!answer.ok) return rejected(answer.code, answer.detail);
    if (answer.status < 200 || answer.status > 299)
      return rejected('TOOLSET_UNREACHABLE', `the discovery endpoint answered HTTP ${answer.status}`);
    const textSha256 = sha256Of(answer.body);
    const read = judged.get(textSha256) ?? (await judging(textSha256, () => judge(answer.body)));
    if ('ok' in read) return read;
    judged.set(textSha256, read);
    const { canonical, manifest } = read;
    if (server.pinnedSha256 !== null && server.pinnedSha256 !== manifest.sha256) {
      const what = `the manifest does not match the pinned hash: it has ${manifest.sha256}`;
      return rejected('TOOLSET_INVALID', `${what}; an operator approves it as the new pinned_sha256`); // (M3)
    }
    if (!isProbe) await remember(server, canonical, manifest);
    if (!isProbe) discovered?.(server);
    return { ok: true, manifest };
  }

  /** Equal for the same server at the same address with the same pin. */
  const placeOf = ({ tenant, name, baseUrl, pinnedSha256 }: ToolServer): string =>
    JSON.stringify([tenant, name, baseUrl, pinnedSha256]);

  function readJustNow(server: ToolServer): Promise<Fetched> | undefined {
    const lately = changed.get(placeOf(server));
    return lately !== undefined && clock.now() - lately.at < changedFreshMs ? lately.fetched : undefined;
  }

  return {
    fetch: (server) => ask(server),
    probe: (server) => ask(server, true),
    fetchChanged(server) {
      const lately = readJustNow(server);
      if (lately !== undefined) return lately;
      const place = placeOf(server);
      const fetched = ask(server);
      changed.set(place, { at: clock.now(), fetched });
      const forget = (): void => changed.drop(place);
      fetched.then(({ ok }) => (ok ? undefined : forget()), forget); // a failure is not remembered
      return fetched;
    },
    stored,
    async lastGood({ tenant, baseUrl, pinnedSha256 }) {
      const sha256 = await toolsets.lastGood(tenant, baseUrl);
      return sha256 === null || (pinnedSha256 !== null && pinnedSha256 !== sha256) ? null : stored(tenant, sha256);
    },
  };
}

interface Judged {
  readonly canonical: string;
  readonly manifest: Manifest;
  /** Estimated, of the text and of what was read from it. */
  readonly bytes: number;
}
type Judgement = Extract<Fetched, { ok: false }> | Judged;

/** (M6) */
const judge = async (text: string): Promise<Judgement> => inTurnsIf(text.length > shortJsonCharacters, reading(text));

function* reading(text: string): Steps<Judgement> {
  const json = yield* checkingJson(text);
  if (!json.ok) return rejected('TOOLSET_INVALID', `${json.problem.pointer} ${json.problem.detail}`.trim());
  yield;
  const parsed = yield* parsingToolset(json.value);
  if (!parsed.ok) return rejected('TOOLSET_INVALID', ...sentencesOf(parsed.problems)); // (M2)
  yield;
  const canonical = yield* canonicalizing(json.value);
  return { canonical, manifest: { sha256: sha256Of(canonical), toolset: parsed.toolset }, bytes: bytesOf(canonical) };
}

/** Every comma and bracket may stand for a value of its own. */
function bytesOf(canonical: string): number {
  let values = 1;
  for (let at = 0; at < canonical.length; at++) {
    const unit = canonical.charCodeAt(at);
    if (unit === 0x2c || unit === 0x5b || unit === 0x7b) values++;
  }
  return 2_000 + 2 * canonical.length + 100 * values;
}

function sentencesOf(problems: readonly Problem[]): readonly string[] {
  const shown = problems.slice(0, problemsShownMax).map(({ pointer, detail }) => `${pointer} ${detail}`.trim());
  return problems.length > problemsShownMax ? [...shown, `and ${problems.length - problemsShownMax} more`] : shown;
}

function rejected(code: Rejection['code'], ...problems: readonly string[]): Extract<Fetched, { ok: false }> {
  return { ok: false, rejection: { code, problems } };
}

const sha256Of = (text: string): string => hash('sha256', text);
