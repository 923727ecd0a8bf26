// A language model, asked once per completion. No retries inside: the runtime's retries are durable.
import type { FinishReason, ModelMessage, Usage, TenantId } from '@dormouse/thread';
import type { ModelConfig } from '../registry/registry.ts';

/** The prompt by reference: nothing is copied or rendered unless the model asks for it. */
export interface Prompt {
  readonly length: number;
  /** The last `count` messages, oldest first. */
  last(count: number): Promise<readonly ModelMessage[]>;
  all(): Promise<readonly ModelMessage[]>;
}

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  readonly tenant: TenantId;
  readonly thread: string;
  readonly completionId: string;
  /** How many completions this thread requested before: 0, 1, 2, … */
  readonly ordinal: number;
  readonly model: ModelConfig;
  readonly instructions: string;
  readonly prompt: Prompt;
  readonly tools: readonly ToolDefinition[];
  readonly signal: AbortSignal;
}

export type ModelPart =
  | { readonly part: 'text'; readonly text: string }
  | { readonly part: 'reasoning'; readonly text: string }
  | { readonly part: 'tool_input'; readonly index: number; readonly text: string }
  /** `arguments` is the raw JSON text, judged by the runtime. */
  | {
      readonly part: 'tool_call';
      readonly providerCallId: string;
      readonly operation: string;
      readonly arguments: string;
    }
  | {
      readonly part: 'finish';
      readonly reason: FinishReason;
      readonly usage: Usage;
      readonly details?: CompletionDetails;
    };

/** What a provider says of its answer besides, for operators; each absent where it says nothing. */
export interface CompletionDetails {
  readonly responseId?: string;
  /** The model that answered. */
  readonly responseModel?: string;
  /** Of the input tokens: from a cache of the provider, and written to one. */
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
}

export interface Model {
  /**
   * Streams one completion; the last part is `finish`.
   * @throws ModelFault when the provider fails, refuses or breaks off.
   */
  complete(request: ModelRequest): AsyncIterable<ModelPart>;
}

type ModelFaultCode = 'MODEL_FAILED' | 'MODEL_REFUSED' | 'CONTEXT_OVERFLOW' | 'TOO_MANY_CALLS';

/** The provider failed. `retryAfterMs` is the provider's own request, if it sent one. */
export class ModelFault extends Error {
  override readonly name = 'ModelFault';
  readonly code: ModelFaultCode;
  readonly retryable: boolean;
  readonly status: number | null;
  readonly retryAfterMs: number | null;

  constructor(fault: {
    readonly code: ModelFaultCode;
    readonly detail: string;
    readonly retryable: boolean;
    readonly status?: number | null;
    readonly retryAfterMs?: number | null;
    readonly cause?: unknown;
  }) {
    super(fault.detail, { cause: fault.cause });
    this.code = fault.code;
    this.retryable = fault.retryable;
    this.status = fault.status ?? null;
    this.retryAfterMs = fault.retryAfterMs ?? null;
  }
}
