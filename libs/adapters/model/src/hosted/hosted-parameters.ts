// An agent's `parameters` for a hosted provider: settings that all models share, and the provider's own options by the
// names of its AI SDK package, in snake case or camel case.
//
// Invariants:
//   P1. A value is passed on as it is; null leaves it out.
import type { LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider';

type Parameters = Readonly<Record<string, unknown>>;
type ProviderOptions = SharedV4ProviderOptions[string];

const shared: Readonly<Record<string, keyof LanguageModelV4CallOptions>> = {
  temperature: 'temperature',
  topP: 'topP',
  topK: 'topK',
  presencePenalty: 'presencePenalty',
  frequencyPenalty: 'frequencyPenalty',
  seed: 'seed',
  stop: 'stopSequences',
  stopSequences: 'stopSequences',
};

export interface SplitParameters {
  readonly callOptions: Partial<LanguageModelV4CallOptions>;
  readonly providerOptions: ProviderOptions;
}

/** `ours`: parameters that are read here and not sent. */
export function splitParameters(parameters: Parameters, ours: readonly string[] = []): SplitParameters {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === null || ours.includes(name) ? [] : [[camelCase(name), value] as const],
  );
  const isShared = ([name]: readonly [string, unknown]): boolean => Object.hasOwn(shared, name);
  return {
    callOptions: Object.fromEntries(given.filter(isShared).map(([name, value]) => [shared[name], listOf(name, value)])),
    providerOptions: Object.fromEntries(given.filter((entry) => !isShared(entry))) as ProviderOptions,
  };
}

const camelCase = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const listOf = (name: string, value: unknown): unknown =>
  name === 'stop' && typeof value === 'string' ? [value] : value;
