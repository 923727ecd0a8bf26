// OpenAI's own models, over Responses, or over Chat Completions with `parameters.api: "chat"`.
//
// Invariants:
//   R1. The provider stores nothing unless the agent asks for it: the thread's log is the conversation.
import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { ModelPart, ModelRequest } from '@dormouse/ports';
import { type Asking, askProvider } from '../provider/ask-provider.ts';
import { standardCompatibility } from '../openai-compatible/compatibility.ts';
import { splitParameters } from './hosted-parameters.ts';
import { baseUrlOf, hostedKey, keyHeaders } from './hosted-providers.ts';
import type { ModelDependencies } from '../model-dependencies.ts';
import { keptModel } from '../provider/provider-models.ts';

export const openAiApis = ['responses', 'chat'] as const;

export const completeOpenAi = (dependencies: ModelDependencies, request: ModelRequest): AsyncIterable<ModelPart> =>
  askProvider(dependencies, request, () => opened(dependencies, request));

async function opened(dependencies: ModelDependencies, request: ModelRequest): Promise<Asking> {
  const { name, parameters } = request.model;
  const baseUrl = baseUrlOf(dependencies, 'openai', request.model);
  const isChat = parameters['api'] === 'chat';
  const { callOptions, providerOptions } = splitParameters(parameters, ['api']);
  return {
    model: keptModel(dependencies.fetch, ['openai', name, baseUrl, isChat], () =>
      made(dependencies.fetch, name, baseUrl, isChat),
    ),
    key: await hostedKey(dependencies, 'openai', request, baseUrl),
    keyHeaders: keyHeaders.openai,
    compatibility: standardCompatibility,
    options: () => ({ ...callOptions, providerOptions: { openai: { store: false, ...providerOptions } } }), // (R1)
  };
}

function made(fetch: typeof globalThis.fetch, name: string, baseURL: string, isChat: boolean): LanguageModelV4 {
  const provider = createOpenAI({ baseURL, fetch, apiKey: 'set with each request' });
  return isChat ? provider.chat(name) : provider.responses(name);
}
