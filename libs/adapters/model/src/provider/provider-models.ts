// A cache of the AI SDK's model objects: making one builds a tree of schemas, a sixth of what a processor did when it
// took over 500 completions.
//
// Invariants:
//   K1. One object for each combination of endpoint, model and set of parameters.
//   K2. Bounded: LRU. No object knows a secret: a key is passed with its request.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { type BoundedMap, createBoundedMap } from '@dormouse/collections';
import type { ModelRequest } from '@dormouse/ports';
import { streamingFetch } from '../openai-compatible/whole-answer.ts';

/** All that distinguishes one object for a compatible endpoint from another. */
export interface CompatibleModel {
  readonly name: string;
  readonly baseUrl: string;
  readonly query: Readonly<Record<string, string>>;
  readonly stream: boolean;
  readonly streamUsage: boolean;
  readonly parameters: ModelRequest['model']['parameters'];
}

const keptMax = 256;
const kept = new WeakMap<typeof globalThis.fetch, BoundedMap<LanguageModelV4>>();

/** The object that `make` made for `wanted` before, or now. (K1) */
export function keptModel(
  fetch: typeof globalThis.fetch,
  wanted: readonly unknown[],
  make: () => LanguageModelV4,
): LanguageModelV4 {
  const models = kept.get(fetch) ?? createBoundedMap<LanguageModelV4>(keptMax);
  kept.set(fetch, models);
  const id = JSON.stringify(wanted);
  return models.get(id) ?? models.set(id, make());
}

export const compatibleModel = (fetch: typeof globalThis.fetch, wanted: CompatibleModel): LanguageModelV4 =>
  keptModel(fetch, ['openai-compatible', wanted], () => made(fetch, wanted));

function made(fetch: typeof globalThis.fetch, wanted: CompatibleModel): LanguageModelV4 {
  const { name, baseUrl, query, stream, streamUsage, parameters } = wanted;
  const provider = createOpenAICompatible({
    name: 'openai-compatible',
    baseURL: baseUrl,
    fetch: streamingFetch(fetch),
    includeUsage: stream && streamUsage,
    ...(Object.keys(query).length === 0 ? {} : { queryParams: { ...query } }),
    transformRequestBody: (body) => withParameters({ ...body, stream }, parameters),
  });
  return provider.chatModel(name);
}

const ownFields = new Set(['model', 'messages', 'tools', 'stream']);

/** The value of a parameter is sent; null leaves a field out. */
function withParameters(
  body: Record<string, unknown>,
  parameters: CompatibleModel['parameters'],
): Record<string, unknown> {
  const asked = Object.entries(parameters).filter(([name]) => name !== 'compatibility' && !ownFields.has(name));
  const merged = { ...body, ...Object.fromEntries(asked) };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
}
