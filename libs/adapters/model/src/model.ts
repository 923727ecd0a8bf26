// The model port over several providers: owns the choice of the provider, and nothing that is specific to one.
//
// Invariants:
//   M1. Nothing is retried here: a completion is one request to its provider; the runtime's retries are durable.
//   M2. Every failure is a `ModelFault`; an abort by the caller throws the signal's reason and nothing else.
//   M3. A secret is read for the one origin it is sent to and never appears in a fault.
import type { Model, ModelPart, ModelRequest } from '@dormouse/ports';
import { ModelFault } from '@dormouse/ports';
import { completeAnthropic } from './hosted/anthropic-model.ts';
import { completeDemo } from './demo/demo-model.ts';
import { inPace } from './demo/demo-pace.ts';
import type { HostedProvider, ModelDependencies } from './model-dependencies.ts';
import { completeOpenAiCompatible } from './openai-compatible/openai-compatible-model.ts';
import { completeOpenAi } from './hosted/openai-model.ts';
import { completeScripted } from './scripted/scripted-model.ts';

export type ProviderName = 'demo' | 'scripted' | 'openai-compatible' | HostedProvider;

const providers: Readonly<
  Record<ProviderName, (dependencies: ModelDependencies, request: ModelRequest) => AsyncIterable<ModelPart>>
> = {
  demo: ({ clock }, request) => inPace(clock, request, completeDemo(request)),
  scripted: completeScripted,
  'openai-compatible': completeOpenAiCompatible,
  openai: completeOpenAi,
  anthropic: completeAnthropic,
};

/** The providers this build knows. */
export const providerNames = Object.keys(providers) as readonly ProviderName[];

export function createModel(dependencies: ModelDependencies): Model {
  return {
    complete(request) {
      const provider = providerNames.find((name) => name === request.model.provider);
      if (provider === undefined) {
        throw new ModelFault({
          code: 'MODEL_FAILED',
          detail: `there is no model provider named "${request.model.provider}"`,
          retryable: false,
        });
      }
      const { fetch, fetchOf = () => fetch } = dependencies;
      return providers[provider]({ ...dependencies, fetch: fetchOf(request.tenant) }, request);
    },
  };
}
