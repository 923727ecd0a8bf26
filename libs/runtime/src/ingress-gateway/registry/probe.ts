// Looks at a tool server now: is it there, is its manifest valid, is it the pinned one. Changes nothing.
import { type Steps, canonicalizing, checkingJson, shortJsonCharacters } from '@dormouse/json';
import { hash } from 'node:crypto';
import { manifestBytesMax, parsingToolset, toolServerUrl } from '@dormouse/protocol';
import type { Clock, ToolServer, ToolTransport } from '@dormouse/ports';
import { inTurnsIf } from '../../in-turns.ts';

const probeTimeoutMs = 5_000;

export interface ProbeReport {
  readonly ok: boolean;
  /** The manifest as it was read; null when there was none to read. */
  readonly toolset: unknown;
  readonly sha256: string | null;
  readonly problems: readonly string[];
  readonly latencyMs: number;
}

export type Probe = (server: ToolServer) => Promise<ProbeReport>;

export function createProbe(ports: { readonly transport: ToolTransport; readonly clock: Clock }): Probe {
  return async (server) => {
    const began = ports.clock.now();
    const url = toolServerUrl(server.baseUrl, 'discovery');
    const fetched = await ports.transport.get({ server, url, timeoutMs: probeTimeoutMs, bytesMax: manifestBytesMax });
    const latencyMs = ports.clock.now() - began;
    const failed = (problem: string): ProbeReport => ({
      ok: false,
      toolset: null,
      sha256: null,
      problems: [problem],
      latencyMs,
    });
    if (!fetched.ok) return failed(`${fetched.code}: ${fetched.detail}`);
    if (fetched.status !== 200) return failed(`TOOLSET_UNREACHABLE: the server answered ${fetched.status}`);
    const isLong = fetched.body.length > shortJsonCharacters;
    return { ...(await inTurnsIf(isLong, judging(server, fetched.body))), latencyMs };
  };
}

function* judging(server: ToolServer, body: string): Steps<Omit<ProbeReport, 'latencyMs'>> {
  const json = yield* checkingJson(body);
  if (!json.ok)
    return { ok: false, toolset: null, sha256: null, problems: [`${json.problem.pointer}: ${json.problem.detail}`] };
  yield;
  const parsed = yield* parsingToolset(json.value);
  const problems = parsed.ok ? [] : parsed.problems.map(({ pointer, detail }) => `${pointer}: ${detail}`);
  yield;
  const sha256 = parsed.ok ? hash('sha256', yield* canonicalizing(json.value)) : null;
  if (sha256 !== null && server.pinnedSha256 !== null && server.pinnedSha256 !== sha256)
    problems.push('pinned_sha256: the manifest is another one');
  return { ok: problems.length === 0, toolset: json.value, sha256, problems };
}
