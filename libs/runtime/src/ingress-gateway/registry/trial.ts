// Trying a tool: one call of an operator, outside of every thread. Sent once, behind the same guard as every call; the
// answer comes by callback, to any process, and waits in the store of first answers until it is read here.
//
// Invariants:
//   R1. A trial belongs to no thread: no log, row or ledger knows of it. Its callback URL names a thread that does not
//       exist, and expires a moment after the trial.
//   R2. It is over within `trialMs`, whatever the tool server does; what comes later is answered 410 and dropped.
//   R3. The first answer counts. It is sealed until it is read, and at most `trialAnswerBytesMax` long.
//   R4. A tenant has at most `trialsMax` in one process at the same time.
import type { IdempotencyKeys, Sealer, SealOwner, ToolServer, TenantId } from '@dormouse/ports';
import { encodeInvocation, parsingToolset, type Tool, type Toolset } from '@dormouse/protocol';
import { isAcknowledgement } from '../read/waiting-sentence.ts';
import type { IngressParts } from '../ingress-ports.ts';
import { inTurns } from '../../in-turns.ts';
import { timeSortedName } from '../access/client-id.ts';
import { answered, type Answered, invalid, refused } from '../refusal.ts';
import type { Probe } from './probe.ts';

export interface TrialRequest {
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** What a tool answered, in the words of a settled call; or how far it got. */
export interface TrialAnswer {
  readonly outcome: 'result' | 'error' | 'subscription' | 'choice' | 'oauth' | 'timed_out';
  /** Items as they are on the wire. */
  readonly content: readonly object[];
  readonly displayAs?: readonly object[];
  /** Of a question that the tool asks a person. */
  readonly prompt?: string;
  readonly choices?: readonly string[];
}

export interface TrialReport extends TrialAnswer {
  readonly latencyMs: number;
}

export type TryTool = (server: ToolServer, request: TrialRequest) => Promise<Answered<TrialReport>>;

export type TrialPorts = Pick<
  IngressParts,
  'transport' | 'idempotencyKeys' | 'callbackTokens' | 'validateArguments' | 'sealer' | 'clock' | 'entropy'
>;

const trialMs = 29_000;
const ackMsMax = 10_000;
const lookFirstMs = 25;
const lookMsMax = 500;
const trialsMax = 20;
/** A claim outlives its trial. */
const leaseMs = 120_000;
export const trialAnswerBytesMax = 1_048_576;

const route = 'trial';
const threadPrefix = 'try_';

/** Whether a callback's thread is that of a trial. (R1) */
export const isTrial = (thread: string): boolean => thread.startsWith(threadPrefix);

const answerOwner = (tenant: TenantId, toolCallId: string): SealOwner => ({ tenant, name: `trial:${toolCallId}` });

/** Keeps the answer of a trial until it is read; no effect on one that is over, or has an answer. (R3) */
export async function keepTrialAnswer(
  { idempotency, sealer }: { readonly idempotency: IdempotencyKeys; readonly sealer: Sealer },
  { tenant, toolCallId }: { readonly tenant: TenantId; readonly toolCallId: string },
  answer: TrialAnswer,
): Promise<void> {
  const text = JSON.stringify(answer);
  const bytes = Buffer.byteLength(text);
  const kept =
    bytes <= trialAnswerBytesMax
      ? text
      : JSON.stringify(failure(`its answer has ${bytes} bytes, which are not shown here`));
  const body = sealer.seal(answerOwner(tenant, toolCallId), kept);
  await idempotency.finish(tenant, route, toolCallId, { status: 200, body });
}

const failure = (why: string): TrialAnswer => ({
  outcome: 'error',
  content: [{ type: 'text', text: `Error: ${why}` }],
});

export function createTrials(ports: TrialPorts, probe: Probe): TryTool {
  const { clock } = ports;
  const running = new Map<string, number>();

  async function run(server: ToolServer, request: TrialRequest): Promise<Answered<TrialAnswer>> {
    const endsAt = clock.now() + trialMs;
    if (server.paused) return answered(failure('the tool server is paused'));
    const report = await probe(server, { credential: false });
    const parsed = report.ok ? await inTurns(parsingToolset(report.toolset)) : null;
    if (parsed === null || !parsed.ok) return answered(failure(report.problems.join('; ')));
    const { toolset } = parsed;
    const tool = toolset.tools.find(({ name }) => name === request.operation);
    if (tool === undefined)
      return invalid([{ pointer: '/operation', detail: 'the tool server offers no tool of this name' }]);
    const problem = (await ports.validateArguments?.(definitionOf(tool), request.arguments)) ?? null;
    if (problem !== null) return invalid([{ pointer: '/arguments', detail: problem }]);
    return call(ports, { server, toolset, request, endsAt });
  }

  return async (server, request) => {
    const { tenant } = server;
    const began = clock.now();
    const others = running.get(tenant) ?? 0;
    if (others >= trialsMax)
      return refused('RATE_LIMITED', `At most ${trialsMax} trials may run at once; wait for one to end.`); // (R4)
    running.set(tenant, others + 1);
    try {
      const outcome = await run(server, request);
      return outcome.ok ? answered({ ...outcome.value, latencyMs: clock.now() - began }) : outcome;
    } finally {
      const left = (running.get(tenant) ?? 1) - 1;
      if (left > 0) running.set(tenant, left);
      else running.delete(tenant);
    }
  };
}

const definitionOf = ({ name, description, inputSchema }: Tool) => ({ name, description, inputSchema });

interface Trial {
  readonly server: ToolServer;
  readonly toolset: Toolset;
  readonly request: TrialRequest;
  readonly endsAt: number;
}

async function call(ports: TrialPorts, trial: Trial): Promise<Answered<TrialAnswer>> {
  const { clock, entropy, idempotencyKeys, transport, callbackTokens } = ports;
  const { server, toolset, request, endsAt } = trial;
  const { tenant } = server;
  const now = clock.now();
  const name = timeSortedName(now, entropy.nonce());
  const [thread, toolCallId] = [`${threadPrefix}${name}`, `call_${name}`];
  const scope = { tenant, thread, toolCallId, toolServer: server.name, expiresAt: endsAt + 1_000 };
  const { operation, arguments: args } = request;
  const sending = { operation, arguments: args, id: toolCallId, callbackUrl: callbackTokens.url(scope, now) };
  const body = bodyOf({ ...sending, groupId: thread }, toolset);
  if (body === null) return invalid([{ pointer: '/arguments', detail: 'break a limit of the protocol' }]);
  await idempotencyKeys.claim(tenant, route, toolCallId, '', now, leaseMs);
  const sent = await transport.post({
    server,
    url: server.endpointOverride ?? toolset.endpoint,
    body,
    headers: { 'idempotency-key': toolCallId },
    timeoutMs: Math.max(1, Math.min(ackMsMax, endsAt - now)),
  });
  if (sent.sent && isAcknowledgement(sent.status))
    return answered((await answerOf(ports, tenant, toolCallId, endsAt)) ?? timedOut);
  await idempotencyKeys.abandon(tenant, route, toolCallId);
  return answered(failure(sent.sent ? `the tool server answered HTTP ${sent.status}` : `${sent.code}: ${sent.detail}`));
}

const timedOut: TrialAnswer = {
  outcome: 'timed_out',
  content: [{ type: 'text', text: 'Error: the tool has taken the call, and has not answered in time' }],
};

/** Null when there is none in time. (R2) */
async function answerOf(
  { clock, idempotencyKeys, sealer }: TrialPorts,
  tenant: TenantId,
  toolCallId: string,
  endsAt: number,
): Promise<TrialAnswer | null> {
  for (let pauseMs = lookFirstMs; ; pauseMs = Math.min(pauseMs * 1.5, lookMsMax)) {
    const now = clock.now();
    const found = await idempotencyKeys.claim(tenant, route, toolCallId, '', now, leaseMs);
    if (found.claim === 'done')
      return JSON.parse(sealer.open(answerOwner(tenant, toolCallId), found.answer.body)) as TrialAnswer;
    if (now >= endsAt) break;
    await clock.sleep(Math.min(pauseMs, endsAt - now));
  }
  await idempotencyKeys.abandon(tenant, route, toolCallId);
  return null;
}

/** Null for arguments that the protocol does not carry. */
function bodyOf(invocation: Parameters<typeof encodeInvocation>[0], { toolsetVersion }: Toolset): string | null {
  try {
    return JSON.stringify(
      encodeInvocation({ ...invocation, ...(toolsetVersion === undefined ? {} : { toolsetVersion }) }),
    );
  } catch {
    return null; // a limit of the strict schema
  }
}
