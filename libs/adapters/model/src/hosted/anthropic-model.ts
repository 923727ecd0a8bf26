// Anthropic's models, over Messages.
//
// Invariants:
//   N1. Thinking is not asked for while the results of the last answer's calls are handed back: the log keeps a model's
//       words of thought and not their signature, and Messages refuses such a request without it.
//   N2. A conversation begins with a user's message: Messages refuses another beginning.
import { createAnthropic } from '@ai-sdk/anthropic';
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { ModelPart, ModelRequest } from '@dormouse/ports';
import type { ModelMessage } from '@dormouse/thread';
import { type Asking, askProvider } from '../provider/ask-provider.ts';
import { standardCompatibility } from '../openai-compatible/compatibility.ts';
import { type SplitParameters, splitParameters } from './hosted-parameters.ts';
import { baseUrlOf, hostedKey, keyHeaders } from './hosted-providers.ts';
import type { ModelDependencies } from '../model-dependencies.ts';
import { keptModel } from '../provider/provider-models.ts';

export const completeAnthropic = (dependencies: ModelDependencies, request: ModelRequest): AsyncIterable<ModelPart> =>
  askProvider(dependencies, request, () => opened(dependencies, request));

async function opened(dependencies: ModelDependencies, request: ModelRequest): Promise<Asking> {
  const { name, parameters } = request.model;
  const baseUrl = baseUrlOf(dependencies, 'anthropic', request.model);
  const { fetch } = dependencies;
  const split = splitParameters(parameters);
  return {
    model: keptModel(fetch, ['anthropic', name, baseUrl], () =>
      createAnthropic({ baseURL: baseUrl, fetch, apiKey: 'set with each request' })(name),
    ),
    key: await hostedKey(dependencies, 'anthropic', request, baseUrl),
    keyHeaders: keyHeaders.anthropic,
    compatibility: { ...standardCompatibility, user_first: true }, // (N2)
    options: (messages) => optionsFor(split, messages),
  };
}

function optionsFor(
  { callOptions, providerOptions }: SplitParameters,
  messages: readonly ModelMessage[],
): Partial<LanguageModelV4CallOptions> {
  const { thinking, ...others } = providerOptions;
  const answer = messages.findLast((message): message is AssistantMessage => message.role === 'assistant');
  const isAsked = thinking !== undefined && (answer?.toolCalls.length ?? 0) === 0; // (N1)
  return { ...callOptions, providerOptions: { anthropic: { ...others, ...(isAsked ? { thinking } : {}) } } };
}

type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>;
