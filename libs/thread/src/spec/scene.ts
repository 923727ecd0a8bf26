// A small language for specs of the heart: `given(…inputs).when(input).then(…)`. Inputs are decided one after the
// other, each with a moment of its own, exactly as in the processor.
import { tenantId } from '../tenant-id.ts';
import { decide } from '../decide.ts';
import type { Decision } from '../decision.ts';
import type { ThreadEffect } from '../effect.ts';
import type { RecordedEvent } from '../event.ts';
import {
  type Answer,
  type ChildReport,
  type Childhood,
  inputIds,
  type SubscriptionEvent,
  type CompletionResult,
  type OpeningAgent,
  type RequestedCall,
  type ThreadInput,
  type ThreadOpening,
  type ToolResult,
} from '../input.ts';
import type { Moment, Streamed, TenantQuota } from '../moment.ts';
import { defaultLimits, defaultPolicies, type Limits, type Policies } from '../policy.ts';
import { text } from '../content.ts';
import { type Thread, unopenedThread } from '../thread.ts';
import { transcript } from '../transcript.ts';
import { toolset } from './toolset.ts';

export interface Step {
  readonly input: ThreadInput;
  readonly decision: Decision;
  readonly at: number;
}

export interface Scene {
  readonly thread: Thread;
  readonly events: readonly RecordedEvent[];
  readonly effects: readonly ThreadEffect[];
  readonly steps: readonly Step[];
}

/** An input, or a way to make one from the scene so far (ids are only known then). */
export type Happening = ThreadInput | ((scene: Scene) => ThreadInput) | Streaming | Timed;

/** An input during a completion that has already streamed a part. */
export interface Streaming {
  readonly happening: ThreadInput | ((scene: Scene) => ThreadInput);
  readonly streamed: string;
}

/** An input at a time of its own; without one, a second after the last. */
export interface Timed {
  readonly at: number;
  readonly input: ThreadInput | ((scene: Scene) => ThreadInput);
  /** Default: the tenant has no quotas. */
  readonly quota?: TenantQuota;
}

export const emptyScene: Scene = {
  thread: unopenedThread(tenantId('acme'), 'thr_1'),
  events: [],
  effects: [],
  steps: [],
};

export const startOfTime = 1_000_000;

export function moment(thread: Thread, now: number, streamed: Streamed | null = null): Moment {
  const mint: Moment['mint'] = (prefix, position) => `${prefix}_${thread.id}_${position}`;
  // A clock without calendar: every cron line comes each hour, one of six fields at each of its seconds.
  const nextTime: Moment['nextTime'] = (cron, _zone, time) => {
    if (cron === 'never') return null;
    const [seconds = '', ...others] = cron.split(' ');
    const hour = Math.floor(time / 3_600_000) * 3_600_000;
    const times = (others.length === 5 ? seconds.split(',') : ['0']).map((second) => hour + Number(second) * 1_000);
    return Math.min(...times.map((at) => (at > time ? at : at + 3_600_000)));
  };
  return { now, mint, sha256: (value) => `#${value}`, nextTime, streamed };
}

export function after(scene: Scene, happening: Happening): Scene {
  const streaming = typeof happening === 'object' && 'happening' in happening ? happening : null;
  const timed = typeof happening === 'object' && 'input' in happening ? happening : null;
  const source = streaming?.happening ?? timed?.input ?? (happening as ThreadInput | ((scene: Scene) => ThreadInput));
  const input = typeof source === 'function' ? source(scene) : source;
  const at = Math.max(scene.thread.updatedAt, timed?.at ?? (scene.steps.at(-1)?.at ?? startOfTime - 1_000) + 1_000);
  const { completion } = scene.thread;
  const streamed =
    streaming === null || completion === null
      ? null
      : { completionId: completion.completionId, text: streaming.streamed, reasoning: '' };
  const quota = timed?.quota === undefined ? {} : { quota: timed.quota };
  const decision = decide(scene.thread, input, { ...moment(scene.thread, at, streamed), ...quota });
  const steps = [...scene.steps, { input, decision, at }];
  if (!decision.committed) return { ...scene, steps };
  return {
    thread: decision.thread,
    events: [...scene.events, ...decision.events],
    effects: [...scene.effects, ...decision.effects],
    steps,
  };
}

export const play = (...happenings: readonly Happening[]): Scene => happenings.reduce(after, emptyScene);

/** `given(…).when(…)` returns what the last happening alone led to. */
export function given(...happenings: readonly Happening[]) {
  const before = play(...happenings);
  return {
    when(happening: Happening) {
      const scene = after(before, happening);
      const decision = scene.steps[scene.steps.length - 1]?.decision;
      const events = scene.events.slice(before.events.length);
      const all = scene.effects.slice(before.effects.length);
      const effects = all.filter((effect) => effect.do !== 'ListQuestions');
      return {
        scene,
        thread: scene.thread,
        events,
        effects,
        types: events.map((event) => event.type),
        owes: effects.map((effect) => effect.do),
        /** Questions to people that began or ended; they are in no other list of effects. */
        listed: all.flatMap((effect) => (effect.do === 'ListQuestions' ? effect.questions : [])),
        refusal: decision?.committed === false ? decision.refusal : null,
        prompt: transcript(scene.events),
      };
    },
  };
}

// ---- inputs ---------------------------------------------------------------------------------------------------------

export interface AgentOptions {
  readonly policies?: Partial<Policies>;
  readonly limits?: Partial<Limits>;
  readonly toolServers?: readonly string[];
  /** For a child. */
  readonly child?: Childhood;
}

export const agent = ({ policies, limits, toolServers = ['tools'] }: AgentOptions = {}): OpeningAgent => ({
  name: 'assistant',
  version: 1,
  model: 'demo',
  toolServers,
  policies: { ...defaultPolicies, ...policies },
  limits: { ...defaultLimits, ...limits },
});

export const opening = (options: AgentOptions = {}): ThreadInput => ({
  kind: 'ThreadOpening',
  id: inputIds.opening('thr_1'),
  agent: agent(options),
  userId: 'ann',
  title: null,
  message: null,
  ...(options.child && { child: options.child }),
});

export const toolsLoaded = (scene: Scene): ThreadInput => {
  const loadId = scene.thread.loading ?? 'none';
  return {
    kind: 'ToolsetsResult',
    id: inputIds.toolsets(loadId),
    loadId,
    toolsets: [toolset],
    withheld: [],
    rejected: [],
  };
};

/** A thread that is open, has its tools, and is idle. */
export const idle = (options: AgentOptions = {}): readonly Happening[] => [opening(options), toolsLoaded];

export const said = (messageId: string, words = messageId): ThreadInput => ({
  kind: 'UserMessage',
  id: `c:${messageId}`,
  messageId,
  content: [text(words)],
});

export const external = (requestId: string, associative = true, eventId: string | null = null): ThreadInput => ({
  kind: 'ExternalEvent',
  id: `c:${requestId}`,
  requestId,
  source: 'billing',
  eventId,
  content: [text('a payment has failed')],
  associative,
});

export const call = (
  operation: string,
  args: Readonly<Record<string, unknown>> = {},
  problem: string | null = null,
): RequestedCall => ({
  providerCallId: `provider-${operation}`,
  operation,
  arguments: args,
  problem,
});

export const answered =
  (words: string, ...toolCalls: readonly RequestedCall[]) =>
  (scene: Scene): CompletionResult => {
    const completionId = scene.thread.completion?.completionId ?? 'none';
    return {
      kind: 'CompletionResult',
      id: inputIds.completion(completionId),
      completionId,
      text: words,
      reasoning: null,
      toolCalls,
      finishReason: toolCalls.length > 0 ? 'tool_calls' : 'stop',
      usage: { inputTokens: 10, outputTokens: 5 },
    };
  };

export const failed = (scene: Scene): ThreadInput => {
  const completionId = scene.thread.completion?.completionId ?? 'none';
  return {
    kind: 'CompletionFailure',
    id: inputIds.completion(completionId),
    completionId,
    code: 'MODEL_FAILED',
    detail: 'down',
    retryable: true,
  };
};

/** The id of the n-th call that was requested in the scene, from 0. */
export const callId = (scene: Scene, index = 0): string =>
  scene.events.filter((event) => event.type === 'ToolCallRequested')[index]?.toolCallId ?? `call_none_${index}`;

export const result =
  (index = 0, words = 'ok', toolServer = 'tools') =>
  (scene: Scene): ToolResult => ({
    kind: 'ToolResult',
    id: inputIds.result(callId(scene, index)),
    toolCallId: callId(scene, index),
    toolServer,
    content: [text(words)],
    displayAs: null,
    subscription: false,
  });

export const dispatchFailed =
  (index = 0, outcome: 'error' | 'unknown' = 'error', code = 'DISPATCH_FAILED') =>
  (scene: Scene): ThreadInput => ({
    kind: 'DispatchFailure',
    id: inputIds.dispatchFailure(callId(scene, index)),
    toolCallId: callId(scene, index),
    outcome,
    code,
    detail: 'the tool server answered 404',
  });

export const rejected =
  (index = 0, settles = false, body = 'a') =>
  (scene: Scene): ThreadInput => ({
    kind: 'CallbackRejection',
    id: inputIds.callbackRejection(callId(scene, index), body),
    toolCallId: callId(scene, index),
    reason: 'the result is too large',
    settles,
    code: 'RESULT_TOO_LARGE',
  });

export const interrupt = (requestId = 'req_i', includeHuman = false): ThreadInput => ({
  kind: 'InterruptRequest',
  id: `c:${requestId}`,
  requestId,
  includeHuman,
});

export const cancel =
  (index = 0, requestId = 'req_c') =>
  (scene: Scene): ThreadInput => ({
    kind: 'CancelCallRequest',
    id: `c:${requestId}`,
    requestId,
    toolCallId: callId(scene, index),
  });

export const retry = (requestId = 'req_r'): ThreadInput => ({ kind: 'RetryRequest', id: `c:${requestId}`, requestId });
export const close = (requestId = 'req_x'): ThreadInput => ({ kind: 'CloseRequest', id: `c:${requestId}`, requestId });

export const choiceId = (scene: Scene, index = 0): string =>
  scene.events.filter((event) => event.type === 'ChoiceRequested')[index]?.choiceId ?? 'chc_none';

export const decided =
  (decision: 'allow' | 'deny' | 'allow_for_thread', index = 0, requestId = `req_d${index}`) =>
  (scene: Scene): ThreadInput => ({
    kind: 'ChoiceAnswer',
    id: `c:${requestId}`,
    requestId,
    choiceId: choiceId(scene, index),
    answer: { answer: 'decision', decision },
    reason: null,
    decidedBy: 'ada',
  });

export const timerFired =
  (index = 0) =>
  (scene: Scene): ThreadInput => {
    const timer = scene.events.filter((event) => event.type === 'TimerSet')[index];
    const timerId = timer?.timerId ?? 'tmr_none';
    return { kind: 'TimerFiring', id: inputIds.timer(timerId), timerId, scheduledFor: timer?.due ?? 0 };
  };

/** The n-th call confirms a subscription. */
export const subscribed =
  (index = 0, words = 'subscribed', toolServer = 'tools') =>
  (scene: Scene): ToolResult => ({
    ...result(index, words, toolServer)(scene),
    id: inputIds.confirmation(callId(scene, index)),
    subscription: true,
  });

export interface EventOptions {
  readonly id?: string | null;
  readonly associative?: boolean;
  readonly final?: boolean;
  readonly toolServer?: string;
}

let anonymous = 0;

export const happened =
  (index = 0, words = 'something', options: EventOptions = {}) =>
  (scene: Scene): SubscriptionEvent => {
    const { id = null, associative = false, final = false, toolServer = 'tools' } = options;
    const toolCallId = callId(scene, index);
    anonymous += 1;
    return {
      kind: 'SubscriptionEvent',
      id: inputIds.subscriptionEvent(toolCallId, id ?? `random-${anonymous}`),
      toolCallId,
      toolServer,
      eventId: id,
      content: [text(words)],
      associative,
      final,
    };
  };

/** The id of the n-th child that was spawned in the scene. */
export const childId = (scene: Scene, index = 0): string =>
  scene.events.filter((event) => event.type === 'ChildSpawned')[index]?.childId ?? `thr_none_${index}`;

export const reported =
  (index = 0, words = 'done', closed = true, occasion = closed ? 'closed' : 'call_x') =>
  (scene: Scene): ChildReport => ({
    kind: 'ChildReport',
    id: inputIds.childReport(childId(scene, index), occasion),
    childId: childId(scene, index),
    report: [text(words)],
    closed,
  });

export const loginAsked =
  (index = 0, body = 'a', question: string | null = null) =>
  (scene: Scene): ThreadInput => ({
    kind: 'LoginPrompt',
    id: inputIds.login(callId(scene, index), body),
    toolCallId: callId(scene, index),
    toolServer: 'tools',
    question,
    expiresAt: startOfTime + 86_400_000,
  });

export const choiceAsked =
  (index = 0, body = 'a', question: string | null = null) =>
  (scene: Scene): ThreadInput => ({
    kind: 'ChoicePrompt',
    id: inputIds.userChoice(callId(scene, index), body),
    toolCallId: callId(scene, index),
    toolServer: 'tools',
    question,
    prompt: 'Which one?',
    choices: ['red', 'green', 'blue'],
    default: 1,
    answerTo: 'sealed-url',
    expiresAt: startOfTime + 3_600_000,
  });

export const chosen =
  (answer: Answer, index = 0, requestId = `req_q${index}`) =>
  (scene: Scene): ThreadInput => ({
    kind: 'ChoiceAnswer',
    id: `c:${requestId}`,
    requestId,
    choiceId: choiceId(scene, index),
    answer,
    reason: null,
    decidedBy: 'ada',
  });

/** The opening of a child of some thread: the effect's own opening. */
export function openingOf(scene: Scene, index = 0): ThreadOpening {
  const spawn = scene.effects.filter((effect) => effect.do === 'SpawnChild')[index];
  if (spawn === undefined) throw new Error(`no child ${index} was spawned`);
  return spawn.opening;
}
