// Converts a provider's stream into the model port's parts.
//
// Invariants:
//   A1. `finish` comes last, and only when the provider reported that it was done; any other end is a retryable fault.
//   A2. A stream that reports an error is a fault at once: nothing after it is used.
//   A3. An answer that a content filter has emptied is a refusal, not an empty answer.
import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import { type CompletionDetails, type ModelPart, ModelFault } from '@dormouse/ports';
import { type FinishReason, unreachable, type Usage } from '@dormouse/thread';
import { approximateTokens } from '../approximate-tokens.ts';
import { streamFault } from './provider-fault.ts';
import type { CallIds } from './provider-call-ids.ts';
import type { ToolNames } from './provider-tool-names.ts';

/** Names that differ between the model and the runtime. */
interface Translations {
  readonly names: ToolNames;
  readonly ids: CallIds;
}

interface Progress extends Translations {
  /** Position of each tool call by the provider's id, in order of appearance. */
  readonly indexes: Map<string, number>;
  charactersSaid: number;
  calls: number;
  answeredBy: Pick<CompletionDetails, 'responseId' | 'responseModel'>;
}

const detailCharactersMax = 200;

export async function* modelParts(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  translations: Translations,
  signal: AbortSignal,
): AsyncIterable<ModelPart> {
  const progress: Progress = { ...translations, indexes: new Map(), charactersSaid: 0, calls: 0, answeredBy: {} };
  for await (const part of stream) {
    signal.throwIfAborted();
    const translated = translate(part, progress);
    if (translated === null) continue;
    yield translated;
    if (translated.part === 'finish') return;
  }
  throw brokenOff(); // (A1)
}

function translate(part: LanguageModelV4StreamPart, progress: Progress): ModelPart | null {
  switch (part.type) {
    case 'text-delta':
      return said({ part: 'text', text: part.delta }, progress);
    case 'reasoning-delta':
      return said({ part: 'reasoning', text: part.delta }, progress);
    case 'tool-input-start':
      indexOf(part.id, progress);
      return null;
    case 'tool-input-delta':
      return said({ part: 'tool_input', index: indexOf(part.id, progress), text: part.delta }, progress);
    case 'tool-call':
      progress.calls += 1;
      return toolCall(part, progress);
    case 'response-metadata':
      progress.answeredBy = answererOf(part);
      return null;
    case 'finish':
      return finish(part.finishReason, part.usage, progress);
    case 'error':
      throw streamFault(part.error); // (A2)
    default:
      return null; // metadata, sources and files: not part of a conversation here
  }
}

/** Names that are longer than any provider's are cut. */
const answererOf = ({ id, modelId }: { readonly id?: string; readonly modelId?: string }): Progress['answeredBy'] => ({
  ...(id === undefined ? {} : { responseId: id.slice(0, detailCharactersMax) }),
  ...(modelId === undefined ? {} : { responseModel: modelId.slice(0, detailCharactersMax) }),
});

function toolCall(
  { toolCallId: providerCallId, toolName, input }: Extract<LanguageModelV4StreamPart, { type: 'tool-call' }>,
  { names, ids }: Progress,
): ModelPart {
  const operation = names.fromWire(toolName);
  const given = input.trim() === '' ? '{}' : ids.argumentsFromWire(operation, input);
  return { part: 'tool_call', providerCallId, operation, arguments: given };
}

function said<Part extends ModelPart & { readonly text: string }>(part: Part, progress: Progress): Part | null {
  progress.charactersSaid += part.text.length;
  return part.text === '' ? null : part;
}

function indexOf(id: string, progress: Progress): number {
  const known = progress.indexes.get(id);
  if (known !== undefined) return known;
  const next = progress.indexes.size;
  progress.indexes.set(id, next);
  return next;
}

function finish(reason: LanguageModelV4FinishReason, usage: LanguageModelV4Usage, progress: Progress): ModelPart {
  const mapped = finishReason(reason);
  if (mapped === 'content_filter' && progress.charactersSaid === 0 && progress.calls === 0) {
    throw new ModelFault({
      code: 'MODEL_REFUSED',
      detail: 'the provider withheld its answer (content filter)',
      retryable: false,
    }); // (A3)
  }
  return { part: 'finish', reason: mapped, usage: usageOf(usage, progress), details: detailsOf(usage, progress) };
}

function finishReason(reason: LanguageModelV4FinishReason): FinishReason {
  switch (reason.unified) {
    case 'stop':
    case 'length':
    case 'other':
      return reason.unified;
    case 'content-filter':
      return 'content_filter';
    case 'tool-calls':
      return 'tool_calls';
    case 'error':
    case 'interrupted':
      throw brokenOff();
    default:
      return unreachable(reason.unified);
  }
}

/** Budgets need a number: where the provider counts nothing, the length of the answer gives an estimate. */
function usageOf(usage: LanguageModelV4Usage, progress: Progress): Usage {
  return {
    inputTokens: usage.inputTokens.total ?? 0,
    outputTokens: usage.outputTokens.total ?? approximateTokens(progress.charactersSaid),
  };
}

const detailsOf = ({ inputTokens }: LanguageModelV4Usage, { answeredBy }: Progress): CompletionDetails => ({
  ...answeredBy,
  ...(inputTokens.cacheRead === undefined ? {} : { cacheReadTokens: inputTokens.cacheRead }),
  ...(inputTokens.cacheWrite === undefined ? {} : { cacheWriteTokens: inputTokens.cacheWrite }),
});

const brokenOff = (): ModelFault =>
  new ModelFault({ code: 'MODEL_FAILED', detail: 'the provider broke off its answer', retryable: true });
