// Which providers can be asked, and which models they offer: what a user who chooses a model wants to know.
//
// Invariants:
//   C1. A provider without a usable key is listed with the next step; a provider that does not answer is listed with
//       the reason, and delays the others by `listMsMax` at most.
//   C2. A hosted provider is asked for its own list: names are never a table that ages here.
import { z } from 'zod';
import type { Fault, TenantId } from '@dormouse/ports';
import { hostedProviders, keyHeaders, standardBaseUrl } from './hosted/hosted-providers.ts';
import { type ProviderName, providerNames } from './model.ts';
import type { HostedProvider, ModelDependencies } from './model-dependencies.ts';
import { toModelFault } from './provider/provider-fault.ts';

export interface OfferedModel {
  readonly name: string;
  /** Null where the provider does not say. */
  readonly contextWindowTokens: number | null;
}

export interface OfferedProvider {
  readonly provider: ProviderName;
  /** Where the key is, which an agent that names no secret uses. */
  readonly key: 'not_needed' | 'of_the_agent' | 'secret' | 'environment' | 'missing';
  /** Null where there is no standard address. */
  readonly baseUrl: string | null;
  /** What is missing, or why there is no list; null when nothing is missing. */
  readonly detail: string | null;
  readonly models: readonly OfferedModel[];
}

export interface ModelCatalog {
  /** @throws Fault when a store fails. */
  list(tenant: TenantId): Promise<readonly OfferedProvider[]>;
}

const listMsMax = 5_000;
const modelsMax = 500;

const providerList = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string().min(1).max(200),
      /** Anthropic. */
      max_input_tokens: z.number().int().positive().nullish(),
      /** Gateways that speak the same format. */
      context_length: z.number().int().positive().nullish(),
    }),
  ),
});

/** Of the list's format; only Anthropic reads it. */
const listVersion = { 'anthropic-version': '2023-06-01' };

const own: Readonly<Record<Exclude<ProviderName, HostedProvider>, Omit<OfferedProvider, 'provider'>>> = {
  demo: { key: 'not_needed', baseUrl: null, detail: null, models: [] },
  scripted: { key: 'not_needed', baseUrl: null, detail: null, models: [] },
  'openai-compatible': {
    key: 'of_the_agent',
    baseUrl: null,
    detail: 'give the agent a base_url, and api_key_secret where the endpoint wants a key',
    models: [],
  },
};

export function createModelCatalog(dependencies: ModelDependencies): ModelCatalog {
  const isHosted = (name: ProviderName): name is HostedProvider => hostedProviders.some((each) => each === name);
  return {
    list: (tenant) =>
      Promise.all(
        providerNames.map(async (provider) =>
          isHosted(provider) ? hosted(dependencies, tenant, provider) : { provider, ...own[provider] },
        ),
      ),
  };
}

async function hosted(
  dependencies: ModelDependencies,
  tenant: TenantId,
  provider: HostedProvider,
): Promise<OfferedProvider> {
  const { environment, fetch, fetchOf = () => fetch } = dependencies;
  const baseUrl = standardBaseUrl(environment, provider);
  const offered = { provider, baseUrl, models: [] };
  const secret = await dependencies.secret(tenant, provider, new URL(baseUrl).origin).catch(unusable);
  if (secret instanceof Error) return { ...offered, key: 'missing', detail: secret.message };
  const key = secret ?? environment[provider]?.key ?? null;
  if (key === null)
    return { ...offered, key: 'missing', detail: `set a key with \`dormouse secrets set ${provider}\`` };
  const found = { ...offered, key: secret === null ? 'environment' : 'secret' } as const;
  try {
    return { ...found, detail: null, models: await listed(fetchOf(tenant), provider, baseUrl, key) };
  } catch (error) {
    return { ...found, detail: toModelFault(error, [key]).message }; // (C1)
  }
}

/** (C2) */
async function listed(
  fetch: typeof globalThis.fetch,
  provider: HostedProvider,
  baseUrl: string,
  key: string,
): Promise<readonly OfferedModel[]> {
  const answer = await fetch(`${baseUrl}/models?limit=${modelsMax}`, {
    headers: { ...keyHeaders[provider](key), ...listVersion },
    signal: AbortSignal.timeout(listMsMax),
  });
  if (!answer.ok) {
    await answer.body?.cancel();
    throw new Error(`its list of models was answered with ${answer.status}`);
  }
  const { data } = providerList.parse(await answer.json());
  return data.slice(0, modelsMax).map((model) => ({
    name: model.id,
    contextWindowTokens: model.max_input_tokens ?? model.context_length ?? null,
  }));
}

/** A secret that exists and may not be sent to the address is shown, not thrown. */
function unusable(error: Fault): Fault {
  if (error.code === 'SECRET_UNUSABLE') return error;
  throw error;
}
