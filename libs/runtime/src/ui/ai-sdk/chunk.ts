// The AI SDK's UI message stream, version 1, as far as this server writes it. Names and shapes are those of `ai` 7; a
// test reads what is written with that package.

export type Chunk =
  | { readonly type: 'start'; readonly messageId: string }
  | { readonly type: 'start-step' }
  /** What the step has shown so far is void: another attempt begins. */
  | { readonly type: 'reset-step' }
  | { readonly type: 'finish-step' }
  | { readonly type: 'text-start' | 'text-end'; readonly id: string }
  | { readonly type: 'text-delta'; readonly id: string; readonly delta: string }
  | { readonly type: 'reasoning-start' | 'reasoning-end'; readonly id: string }
  | { readonly type: 'reasoning-delta'; readonly id: string; readonly delta: string }
  | ToolInput
  | { readonly type: 'tool-approval-request'; readonly approvalId: string; readonly toolCallId: string }
  | {
      readonly type: 'tool-approval-response';
      readonly approvalId: string;
      readonly approved: boolean;
      readonly reason?: string;
    }
  | {
      readonly type: 'tool-output-available';
      readonly toolCallId: string;
      readonly output: unknown;
      readonly dynamic: true;
    }
  | {
      readonly type: 'tool-output-error';
      readonly toolCallId: string;
      readonly errorText: string;
      readonly dynamic: true;
    }
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string }
  | DataChunk
  | { readonly type: 'abort' }
  | { readonly type: 'error'; readonly errorText: string }
  | { readonly type: 'finish'; readonly finishReason: ChunkFinishReason; readonly messageMetadata: MessageMetadata };

/** The tool runs elsewhere: `providerExecuted` keeps a page from running it. */
export interface ToolInput {
  readonly type: 'tool-input-available';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly dynamic: true;
  readonly providerExecuted: true;
}

export interface DataChunk {
  readonly type: 'data-choice' | 'data-oauth' | 'data-waiting';
  readonly id?: string;
  readonly data: unknown;
  readonly transient?: true;
}

export type ChunkFinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';

/** The position of the last event in the message: a stream with `?after=` goes on there. */
export interface MessageMetadata {
  readonly position: number;
}

/** The id of the message that answers a turn. */
export const answerIdOf = (turnId: string): string => `rsp_${turnId}`;
