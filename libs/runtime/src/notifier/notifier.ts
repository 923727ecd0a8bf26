// Notifies tool servers that a call or a thread is over: best effort by protocol, nothing depends on it. Also answers
// their choices, which tool servers do depend on (choice-answers.ts). RAP thread-closure, tool-cancellation,
// user-choice. Not here: which tool servers a thread still owes a notice (the heart decides).
//
// Invariants:
//   N1. A notice is claimed durably by (notice, server) before it is sent, sent at most once, never retried. R61, R66
//   N2. Servers are notified concurrently; one that hangs, fails or is gone delays no other. R62, R67
//   N3. The answer, whatever it is, is ignored. R63, R68
//   N4. The address is the base URL of discovery, never the manifest's endpoint. R59, R64
//   N5. Nothing is sent for a tenant that is not active, nor to a tool server that is paused: the notice is let go of,
//       once its thread is marked. (holding H1, H5)
import {
  Fault,
  type Clock,
  type Entropy,
  type Logger,
  type Owed,
  type Sealer,
  type Stores,
  type Subscription,
  type ToolTransport,
  type WorkTopics,
} from '@dormouse/ports';
import { encodeCancelToolCall, encodeCloseThread, toolServerUrl } from '@dormouse/protocol';
import { type SendCancelNotices, type SendCloseNotices, unreachable } from '@dormouse/thread';
import type { Holding } from '../tenants/holding.ts';
import type { TenantLimits } from '../tenants/tenant-limits.ts';
import { createChoiceAnswers } from './choice-answers.ts';
import type { Service } from '../service.ts';
import { atAddress } from '../tool-dispatcher/registrations.ts';
import { traceHeaders } from '../tool-dispatcher/trace-headers.ts';

export interface NotifierDeps extends Pick<Stores, 'work' | 'inputs' | 'toolServers' | 'ledger'> {
  readonly sealer: Sealer;
  readonly transport: ToolTransport;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly logger: Logger;
  readonly settings?: Partial<typeof defaultSettings>;
  /** Default: null. */
  readonly holding?: Holding | null;
  /** Default: all tenants have the same weight. */
  readonly limits?: Pick<TenantLimits, 'weightOf'>;
}

/** `answerRetryTotalMs`: how long an answer to a choice is tried. */
const defaultSettings = { noticeTimeoutMs: 10_000, answerRetryTotalMs: 600_000 };

type Notice = Owed<SendCancelNotices | SendCloseNotices>;

export function createNotifier(deps: NotifierDeps): Service {
  const settings = { ...defaultSettings, ...deps.settings };
  const { holding = null } = deps;
  const hardStop = new AbortController();
  const running = new Set<Promise<void>>();
  let subscription: Subscription | null = null;
  let stopping = false;

  async function post(notice: Notice, name: string): Promise<void> {
    const { tenant, thread, effect } = notice;
    const registered = await deps.toolServers.get(tenant, name);
    if (registered === null) return deps.logger.info('notice_without_server', { tenant, thread, toolServer: name });
    const server = atAddress(registered, effect);
    const key = { tenant, thread };
    if (server.paused && holding !== null) return await holding.holdForServer(key, name); // (N5)
    const subject = `${effect.id}:${name}`;
    if (!(await deps.ledger.claim(key, subject, deps.entropy.nonce(), deps.clock.now()))) return; // (N1)
    const { path, body } = requestOf(notice);
    const outcome = await deps.transport.post({
      server,
      url: toolServerUrl(server.baseUrl, path), // (N4)
      body: JSON.stringify(body),
      headers: { 'idempotency-key': subject, ...traceHeaders(notice.trace) },
      timeoutMs: settings.noticeTimeoutMs,
      signal: hardStop.signal,
    });
    const status = outcome.sent ? outcome.status : outcome.code;
    if (!outcome.sent || status !== 200)
      deps.logger.info('notice_not_acknowledged', { tenant, thread, toolServer: name, status }); // (N3)
  }

  const postAnswer = createChoiceAnswers({ ...deps, settings, signal: hardStop.signal });

  async function handle(owed: WorkTopics['notices']): Promise<void> {
    if (stopping) throw new Fault('UNAVAILABLE', 'the notifier is stopping');
    if (holding !== null && (await holding.holds(owed))) return; // (N5)
    const { effect } = owed;
    if (effect.do === 'AnswerChoice') return postAnswer({ ...owed, effect });
    const notice: Notice = { ...owed, effect };
    const outcomes = await Promise.allSettled(notice.effect.toolServers.map((name) => post(notice, name))); // (N2)
    // What failed before its claim is delivered again; what was claimed is not sent again.
    const failed = outcomes.find((one) => one.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  function track(notice: WorkTopics['notices']): Promise<void> {
    const work = handle(notice);
    const settled: Promise<void> = work.catch(() => {}).finally(() => running.delete(settled));
    running.add(settled);
    return work;
  }

  return {
    async start() {
      subscription = await deps.work.consume('notices', track, deps.limits);
    },
    async stop(withinMs) {
      stopping = true;
      await subscription?.close(withinMs);
      hardStop.abort();
      await Promise.all(running);
    },
  };
}

function requestOf({ thread: threadId, effect }: Notice) {
  switch (effect.do) {
    case 'SendCloseNotices':
      return { path: 'closeThread', body: encodeCloseThread({ threadId }) } as const;
    case 'SendCancelNotices':
      return {
        path: 'cancelToolCall',
        body: encodeCancelToolCall({ threadId, toolCallId: effect.toolCallId }),
      } as const;
    default:
      return unreachable(effect);
  }
}
