// Any endpoint that speaks the OpenAI chat wire format. Owns the request: address, key, prompt; the conversions and the
// provider's objects are in the files beside it. Uses the AI SDK's provider object directly, never its orchestration: a
// prompt with a call that was answered by a placeholder is the normal case here, and the SDK's retries are not durable.
//
// Invariants:
//   O1. One completion is one HTTP request. (model M1)
//   O2. The value of a parameter is sent; null leaves a field out. Model, messages, tools and `stream` are set by the
//       runtime. (provider-models.ts)
//   O3. The key is requested with the origin of the base URL, which is the only origin it is sent to. (model M3)
import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { ModelPart, ModelRequest, ToolDefinition } from '@dormouse/ports';
import { ModelFault } from '@dormouse/ports';
import { type Compatibility, parseCompatibility } from './compatibility.ts';
import type { ModelDependencies } from './model-dependencies.ts';
import { toModelFault } from './provider-fault.ts';
import { callIds } from './provider-call-ids.ts';
import { providerModel } from './provider-models.ts';
import { modelParts } from './provider-parts.ts';
import { providerPrompt } from './provider-prompt.ts';
import { toolNames, type ToolNames } from './provider-tool-names.ts';

export async function* completeOpenAiCompatible(
  dependencies: ModelDependencies,
  request: ModelRequest,
): AsyncIterable<ModelPart> {
  const secrets: string[] = [];
  try {
    const compatibility = settings(request);
    const endpoint = endpointOf(request);
    const key = await apiKey(dependencies, request, endpoint.origin);
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
    const { name, parameters } = request.model;
    const { stream: streams, stream_usage: streamUsage } = compatibility;
    const { baseUrl, query } = endpoint;
    const wanted = { name, baseUrl, query, stream: streams, streamUsage, parameters };
    const model = providerModel(dependencies.fetch, wanted);
    request.signal.throwIfAborted();
    const { stream } = await model.doStream({
      prompt,
      abortSignal: request.signal,
      ...(key === null ? {} : { headers: { Authorization: `Bearer ${key}` } }),
      ...limits(request),
      ...offered(request.tools, names),
    });
    yield* modelParts(stream, { names, ids }, request.signal);
  } catch (error) {
    request.signal.throwIfAborted(); // (model M2)
    throw toModelFault(error, secrets);
  }
}

function settings(request: ModelRequest): Compatibility {
  const parsed = parseCompatibility(request.model.parameters['compatibility']);
  if (parsed.ok) return parsed.compatibility;
  throw misconfigured(
    `parameters.compatibility: ${parsed.problems.map((problem) => `${problem.pointer} ${problem.detail}`).join('; ')}`,
  );
}

/** The base URL without its query, which some gateways use for a version or a deployment. */
interface Endpoint {
  readonly origin: string;
  readonly baseUrl: string;
  readonly query: Readonly<Record<string, string>>;
}

function endpointOf(request: ModelRequest): Endpoint {
  const url = URL.parse(request.model.baseUrl ?? '');
  if (url === null) throw misconfigured('the model needs a base_url');
  return {
    origin: url.origin,
    baseUrl: `${url.origin}${url.pathname.replace(/\/+$/, '')}`,
    query: Object.fromEntries(url.searchParams),
  };
}

async function apiKey(dependencies: ModelDependencies, request: ModelRequest, origin: string): Promise<string | null> {
  const name = request.model.apiKeySecret;
  return name === null ? null : dependencies.secret(request.tenant, name, origin); // (O3)
}

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

const misconfigured = (detail: string): ModelFault =>
  new ModelFault({ code: 'MODEL_FAILED', detail, retryable: false });
