// Any endpoint that speaks the OpenAI chat wire format: its address, and how it differs (`parameters.compatibility`).
//
// Invariants:
//   O2. The value of a parameter is sent; null leaves a field out. Model, messages, tools and `stream` are set by the
//       runtime. (provider-models.ts)
import type { ModelPart, ModelRequest } from '@dormouse/ports';
import { type Asking, askProvider, misconfigured, namedKey } from '../provider/ask-provider.ts';
import { type Compatibility, parseCompatibility } from './compatibility.ts';
import type { ModelDependencies } from '../model-dependencies.ts';
import { compatibleModel } from '../provider/provider-models.ts';

export const completeOpenAiCompatible = (
  dependencies: ModelDependencies,
  request: ModelRequest,
): AsyncIterable<ModelPart> => askProvider(dependencies, request, () => opened(dependencies, request));

async function opened(dependencies: ModelDependencies, request: ModelRequest): Promise<Asking> {
  const compatibility = settings(request);
  const { origin, baseUrl, query } = endpointOf(request);
  const { name, parameters } = request.model;
  const { stream, stream_usage: streamUsage } = compatibility;
  return {
    model: compatibleModel(dependencies.fetch, { name, baseUrl, query, stream, streamUsage, parameters }),
    key: await namedKey(dependencies, request, origin),
    keyHeaders: (key) => ({ Authorization: `Bearer ${key}` }),
    compatibility,
    options: () => ({}),
  };
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
