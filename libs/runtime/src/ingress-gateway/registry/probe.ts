// Looks at a tool server now: is it there, is its manifest valid, is it the pinned one, does it take our credential.
// Changes nothing.
//
// Invariants:
//   P1. The credential is tried on the notice that a call was cancelled, for a call that cannot exist: a server answers
//       200 to it and does nothing. RAP tool-cancellation.
//   P2. A check says what it has seen: a server that takes the same notice without the credential has checked nothing.
import { type Steps, canonicalizing, checkingJson, shortJsonCharacters } from '@dormouse/json';
import { hash } from 'node:crypto';
import { encodeCancelToolCall, manifestBytesMax, parsingToolset, toolServerUrl } from '@dormouse/protocol';
import type { ToolServer } from '@dormouse/ports';
import { isAcknowledgement } from '../read/waiting-sentence.ts';
import type { IngressParts } from '../ingress-ports.ts';
import { inTurnsIf } from '../../in-turns.ts';

const probeTimeoutMs = 5_000;

/** `unchecked`: the server's answers do not show whether the credential is right; `detail` says why. */
export interface CredentialReport {
  readonly state: 'none' | 'accepted' | 'refused' | 'unchecked';
  readonly detail: string | null;
}

export interface ProbeReport {
  readonly ok: boolean;
  readonly credential: CredentialReport;
  /** The manifest as it was read; null when there was none to read. */
  readonly toolset: unknown;
  readonly sha256: string | null;
  readonly problems: readonly string[];
  readonly latencyMs: number;
}

/** Without `credential` only the manifest is looked at. */
export type Probe = (server: ToolServer, checks?: { readonly credential: boolean }) => Promise<ProbeReport>;

type Ports = Pick<IngressParts, 'transport' | 'clock'>;

export function createProbe(ports: Ports): Probe {
  return async (server, { credential: checksCredential } = { credential: true }) => {
    const began = ports.clock.now();
    const url = toolServerUrl(server.baseUrl, 'discovery');
    const fetched = await ports.transport.get({ server, url, timeoutMs: probeTimeoutMs, bytesMax: manifestBytesMax });
    const latencyMs = ports.clock.now() - began;
    const failed = (problem: string): ProbeReport => {
      const { ok, ...rest } = unread(problem);
      return { ok, credential: notLookedAt, ...rest, latencyMs };
    };
    if (!fetched.ok) return failed(`${fetched.code}: ${fetched.detail}`);
    if (fetched.status !== 200) return failed(`TOOLSET_UNREACHABLE: ${answeredWith(fetched.status, url)}`);
    const isLong = fetched.body.length > shortJsonCharacters;
    const judged = await inTurnsIf(isLong, judging(server, fetched.body));
    const credential = checksCredential ? await tryCredential(ports, server) : notLookedAt;
    const problems = credential.state === 'refused' ? [`credential: ${credential.detail}`] : [];
    return {
      ...judged,
      ok: judged.ok && problems.length === 0,
      credential,
      problems: [...judged.problems, ...problems],
      latencyMs,
    };
  };
}

const answeredWith = (status: number, url: string): string =>
  `the server answered ${status}${status === 404 ? `: no manifest at ${new URL(url).pathname}` : ''}`;

const notLookedAt: CredentialReport = { state: 'unchecked', detail: null };
const unauthorised = new Set([401, 403]);

/** (P1) (P2) */
async function tryCredential({ transport, clock }: Ports, server: ToolServer): Promise<CredentialReport> {
  const url = toolServerUrl(server.baseUrl, 'cancelToolCall');
  const body = JSON.stringify(encodeCancelToolCall({ threadId: 'probe', toolCallId: 'probe' }));
  const answerTo = async (sender: ToolServer): Promise<number | string> => {
    const headers = { 'idempotency-key': `probe_${clock.now()}` };
    const outcome = await transport.post({ server: sender, url, body, headers, timeoutMs: probeTimeoutMs });
    return outcome.sent ? outcome.status : outcome.code;
  };
  const answer = await answerTo(server);
  const isRefused = unauthorised.has(Number(answer));
  if (server.auth === null)
    return isRefused
      ? report('refused', `the server answers ${answer}: it asks for a credential, and the registration has none`)
      : report('none');
  if (isRefused) return report('refused', `the server answers ${answer} to the credential of the registration`);
  if (!isAcknowledgement(answer))
    return report('unchecked', `the server answered ${answer} to /cancel_tool_call, where the credential was tried`);
  const without = await answerTo({ ...server, auth: null });
  if (unauthorised.has(Number(without))) return report('accepted');
  return isAcknowledgement(without)
    ? report('unchecked', 'the server takes a notice without the credential as well')
    : report('unchecked', `without the credential the server answered ${without}`);
}

const report = (state: CredentialReport['state'], detail: string | null = null): CredentialReport => ({
  state,
  detail,
});

type ManifestReport = Omit<ProbeReport, 'latencyMs' | 'credential'>;

const unread = (problem: string): ManifestReport => ({ ok: false, toolset: null, sha256: null, problems: [problem] });

function* judging(server: ToolServer, body: string): Steps<ManifestReport> {
  const json = yield* checkingJson(body);
  if (!json.ok) return unread(`${json.problem.pointer}: ${json.problem.detail}`);
  yield;
  const parsed = yield* parsingToolset(json.value);
  const problems = parsed.ok ? [] : parsed.problems.map(({ pointer, detail }) => `${pointer}: ${detail}`);
  yield;
  const sha256 = parsed.ok ? hash('sha256', yield* canonicalizing(json.value)) : null;
  if (sha256 !== null && server.pinnedSha256 !== null && server.pinnedSha256 !== sha256)
    problems.push(`pinned_sha256: the manifest is another one: it has ${sha256}, and ${server.pinnedSha256} is pinned`);
  return { ok: problems.length === 0, toolset: json.value, sha256, problems };
}
