// Commits for the specs of turns, written by hand: each has events of one turn, a cause, a time and a trace.
import { tenantId, type Commit, type ThreadKey } from '@dormouse/ports';
import type { Cause, CauseKind, RecordedEvent, ThreadEvent } from '@dormouse/thread';
import { sealCommit } from '../../log/envelope.ts';

export const key: ThreadKey = { tenant: tenantId('acme'), thread: 'thr_1' };

export interface Written {
  readonly at: number;
  readonly turn: string;
  readonly cause: Cause;
  readonly events: readonly ThreadEvent[];
  readonly inputs?: readonly string[];
  readonly trace?: string;
}

export const by = (kind: CauseKind, id: string): Cause => ({ kind, id });

/** Appends to `log`, and answers it. */
export function written(log: Commit[], ...commits: readonly Written[]): Commit[] {
  for (const { at, turn, cause, events, inputs, trace } of commits) {
    const version = log.reduce((sum, { count }) => sum + count, 0);
    log.push(
      sealCommit({
        ...{ key, version, at, nonce: `n${version}`, effects: [], prev: log.at(-1)?.hash ?? '' },
        inputs: inputs ?? [`i:${version}`],
        trace: trace === undefined ? null : `00-${trace.repeat(32)}-${trace.repeat(16)}-01`,
        events: events.map((event): RecordedEvent => ({ ...event, turnId: turn, cause })),
      }),
    );
  }
  return log;
}

export const message = (messageId: string): ThreadEvent => ({
  type: 'MessageAccepted',
  messageId,
  content: [{ type: 'text', text: 'hello' }],
});

export const asked = (completionId: string): ThreadEvent => ({ type: 'CompletionRequested', completionId, model: 'm' });

export const said = (completionId: string, final = true): ThreadEvent => ({
  type: 'CompletionRecorded',
  ...{ completionId, message: { text: 'words' }, finishReason: final ? 'stop' : 'tool_calls' },
  ...{ usage: { inputTokens: 1, outputTokens: 1 }, interrupted: false, final },
});

export const called = (toolCallId: string, operation = 'work'): ThreadEvent => ({
  type: 'ToolCallRequested',
  ...{ toolCallId, operation, toolServer: 'tools', arguments: {}, argumentsHash: '', providerCallId: toolCallId },
});

export const settled = (
  toolCallId: string,
  outcome: 'result' | 'denied' | 'timed_out' | 'interrupted' = 'result',
): ThreadEvent => ({ type: 'ToolCallSettled', toolCallId, outcome, content: [] });

/** A message, a completion with these calls. */
export const turnWith = (id: string, at: number, calls: readonly string[], trace?: string): readonly Written[] => {
  const traced = trace === undefined ? {} : { trace };
  const [turn, completion] = [`msg_${id}`, `cmp_${id}`];
  return [
    {
      ...{ at, turn, cause: by('message', turn), inputs: [`c:${id}`], ...traced },
      events: [message(turn), asked(completion)],
    },
    {
      ...{ at: at + 5, turn, cause: by('completion', completion), ...traced },
      events: [said(completion, calls.length === 0), ...calls.map((call) => called(call))],
    },
  ];
};

/** The result of a call, and the completion that it leads to. */
export const result = (at: number, turn: string, call: string, next: string, trace?: string): Written => ({
  ...{ at, turn, cause: by('result', call), inputs: [`r:${call}`] },
  ...(trace === undefined ? {} : { trace }),
  events: [settled(call), asked(next)],
});

export const answer = (at: number, turn: string, completion: string, trace?: string): Written => ({
  ...{ at, turn, cause: by('completion', completion), events: [said(completion)] },
  ...(trace === undefined ? {} : { trace }),
});
