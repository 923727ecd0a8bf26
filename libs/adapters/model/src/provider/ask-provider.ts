// One completion over a provider object of the AI SDK. Owns the request: key, prompt, tools, limits; the conversions
// are in the files beside it. The provider object is used directly, never the SDK's orchestration: a prompt with a call
// that was answered by a placeholder is the normal case here, and the SDK's retries are not durable.
//
// Invariants:
//   O1. One completion is one HTTP request. (M1 of model.ts)
//   O2. The key is requested with the origin of the base URL, which is the only origin it is sent to. (M3 of model.ts)
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { ModelFault, type ModelPart, type ModelRequest, type ToolDefinition } from '@dormouse/ports';
import type { ModelMessage } from '@dormouse/thread';
import type { Compatibility } from '../openai-compatible/compatibility.ts';
import type { ModelDependencies } from '../model-dependencies.ts';
import { callIds } from './provider-call-ids.ts';
import { toModelFault } from './provider-fault.ts';
import { modelParts } from './provider-parts.ts';
import { providerPrompt } from './provider-prompt.ts';
import { toolNames, type ToolNames } from './provider-tool-names.ts';

/** What one provider is asked over, and how its requests differ. */
export interface Asking {
  readonly model: LanguageModelV4;
  /** Null for a request without a key. */
  readonly key: string | null;
  /** The headers that carry the key. */
  readonly keyHeaders: (key: string) => Readonly<Record<string, string>>;
  readonly compatibility: Compatibility;
  /** Set beside prompt, tools and limits. */
  readonly options: (messages: readonly ModelMessage[]) => Partial<LanguageModelV4CallOptions>;
}

/** @throws ModelFault for everything but an abort by the caller, which throws the signal's reason. */
export async function* askProvider(
  dependencies: ModelDependencies,
  request: ModelRequest,
  open: () => Promise<Asking>,
): AsyncIterable<ModelPart> {
  const secrets: string[] = [];
  try {
    const { model, key, keyHeaders, compatibility, options } = await open();
    if (key !== null) secrets.push(key);
    const names = toolNames(
      request.tools.map((tool) => tool.name),
      compatibility.tool_name_characters_max,
    );
    const messages = await request.prompt.all();
    const ids = callIds(messages, compatibility.short_call_ids);
    const prompt = await providerPrompt(request, messages, {
      names,
      ids,
      compatibility,
      blob: (sha256) => dependencies.blob(request.tenant, sha256),
    });
    request.signal.throwIfAborted();
    const { stream } = await model.doStream({
      prompt,
      abortSignal: request.signal,
      ...(key === null ? {} : { headers: keyHeaders(key) }),
      ...limits(request),
      ...offered(request.tools, names),
      ...options(messages),
    });
    yield* modelParts(stream, { names, ids }, request.signal);
  } catch (error) {
    request.signal.throwIfAborted(); // (M2 of model.ts)
    throw toModelFault(error, secrets);
  }
}

/** The value of the secret that the agent names; null when it names none. (O2) */
export async function namedKey(
  { secret }: ModelDependencies,
  request: ModelRequest,
  origin: string,
): Promise<string | null> {
  const name = request.model.apiKeySecret;
  if (name === null) return null;
  const value = await secret(request.tenant, name, origin);
  if (value === null) throw misconfigured(`there is no secret named ${name}`);
  return value;
}

export const misconfigured = (detail: string): ModelFault =>
  new ModelFault({ code: 'MODEL_FAILED', detail, retryable: false });

function limits(request: ModelRequest): { readonly maxOutputTokens?: number } {
  return request.model.outputTokensMax === null ? {} : { maxOutputTokens: request.model.outputTokensMax };
}

function offered(
  tools: readonly ToolDefinition[],
  names: ToolNames,
): { readonly tools?: LanguageModelV4FunctionTool[] } {
  if (tools.length === 0) return {}; // an empty list is an error with most providers
  return {
    tools: tools.map((tool) => ({
      type: 'function',
      name: names.onWire(tool.name),
      description: tool.description,
      inputSchema: objectSchema(tool.inputSchema),
    })),
  };
}

/** An object schema with `type` and `properties`: providers refuse one without them. */
function objectSchema(schema: ToolDefinition['inputSchema']): LanguageModelV4FunctionTool['inputSchema'] {
  return { type: 'object', properties: {}, ...schema };
}
