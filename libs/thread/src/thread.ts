// The state of one thread: what its events amount to, and all that `decide` may look at. Plain JSON, so that a snapshot is
// the state itself; its size does not grow with history.
//
// Invariants:
//   T1. At most one completion is outstanding; `completion` names it.
//   T2. A call is in `calls` from `ToolCallRequested` to `ToolCallSettled`, once.
//   T3. `unseen` counts what the next completion will show the model for the first time.
//   T4. A closed thread has no completion, calls, choices, timers or queue, and only refusals are added to its log.
//   T5. `position` counts the events folded; the next commit's version is exactly this number.
import type { Content } from './content.ts';
import type { Delivery } from './effect.ts';
import type { TimerReason } from './event.ts';
import type { AgentReference, Usage } from './input.ts';
import { defaultLimits, defaultPolicies, type Limits, type Policies } from './policy.ts';
import type { LoadedToolset } from './toolset.ts';

/** A call waits for its result (it is sent, or on its way) or for a person's approval (it is not). */
export type WaitingFor = { readonly for: 'result' } | PendingApproval;

export interface PendingApproval {
  readonly for: 'approval';
  readonly choiceId: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly providerCallId: string;
}

/** An open call. `waiting` says for what; a detached call no longer holds up the model but still owes one outcome. */
export interface Call {
  readonly toolCallId: string;
  readonly operation: string;
  /** Null for a tool nobody offers; such a call is settled in the commit that requests it. */
  readonly toolServer: string | null;
  readonly toolsetSha256: string;
  readonly delivery: Delivery;
  readonly waiting: WaitingFor;
  readonly detached: boolean;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly timerId: string | null;
  readonly rejectedCallbacks: number;
}

export interface Choice {
  readonly choiceId: string;
  readonly toolCallId: string;
  readonly expiresAt: number;
  readonly since: number;
  readonly position: number;
}

export interface Timer {
  readonly timerId: string;
  readonly due: number;
  readonly reason: TimerReason;
  readonly toolCallId: string;
}

export interface QueuedMessage {
  readonly messageId: string;
  readonly content: Content;
}

export interface Completion {
  readonly completionId: string;
  readonly since: number;
}

export interface Failure {
  readonly code: string;
  readonly detail: string;
  readonly at: number;
}

export interface UsageTotals extends Usage {
  readonly completions: number;
  readonly toolCalls: number;
  /** Time with a completion or an open call. */
  readonly activeMs: number;
  readonly waitingMs: number;
}

export interface Thread {
  readonly tenant: string;
  readonly id: string;
  readonly position: number;
  readonly status: 'unopened' | 'open' | 'closed';
  readonly openedAt: number;
  /** Time of the last event, milliseconds since the epoch. */
  readonly updatedAt: number;
  readonly agent: AgentReference;
  readonly model: string;
  readonly toolServers: readonly string[];
  readonly policies: Policies;
  readonly limits: Limits;
  readonly userId: string | null;
  readonly title: string | null;
  /** The load of toolsets that is outstanding; no completion is asked for meanwhile. */
  readonly loading: string | null;
  readonly toolsets: readonly LoadedToolset[];
  readonly problems: readonly { readonly code: string; readonly detail: string; readonly since: number }[];
  readonly completion: Completion | null;
  /** Completions that have been requested so far; the next one's ordinal. */
  readonly completions: number;
  readonly completionsInWake: number;
  readonly unseen: number;
  /** Set by a model failure or an exceeded budget; cleared by the next message or a retry. */
  readonly stalled: boolean;
  readonly calls: Readonly<Record<string, Call>>;
  readonly choices: Readonly<Record<string, Choice>>;
  readonly timers: Readonly<Record<string, Timer>>;
  readonly queue: readonly QueuedMessage[];
  /** Tools that a person allowed for this thread, see `allowanceKey`. */
  readonly allowed: readonly string[];
  /** The last call's operation and arguments (hashed) and how often it was asked for in a row. */
  readonly repeated: { readonly key: string; readonly times: number };
  readonly turnId: string | null;
  readonly usage: UsageTotals;
  readonly lastError: Failure | null;
}

/** The thread before its opening. */
export function unopenedThread(tenant: string, id: string): Thread {
  return {
    tenant,
    id,
    position: 0,
    status: 'unopened',
    openedAt: 0,
    updatedAt: 0,
    agent: { name: '', version: 0 },
    model: '',
    toolServers: [],
    policies: defaultPolicies,
    limits: defaultLimits,
    userId: null,
    title: null,
    loading: null,
    toolsets: [],
    problems: [],
    completion: null,
    completions: 0,
    completionsInWake: 0,
    unseen: 0,
    stalled: false,
    calls: {},
    choices: {},
    timers: {},
    queue: [],
    allowed: [],
    repeated: { key: '', times: 0 },
    turnId: null,
    usage: { inputTokens: 0, outputTokens: 0, completions: 0, toolCalls: 0, activeMs: 0, waitingMs: 0 },
    lastError: null,
  };
}

export const openCalls = (thread: Thread): readonly Call[] => Object.values(thread.calls);

/** Calls that the next completion must wait for. */
export const blockingCalls = (thread: Thread): readonly Call[] => openCalls(thread).filter((call) => !call.detached);

/** Calls that no machine will settle: an approval today. */
export const waitsForPerson = (call: Call): boolean => call.waiting.for === 'approval';
