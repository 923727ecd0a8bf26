// The providers that host their own models: where each is, and which key its requests carry.
//
// Invariants:
//   H1. A key of the environment, and a secret that was set without an origin, go to the provider's standard address
//       only: the one of the environment, else the provider's own.
//   H2. An agent that names no secret uses the secret that is named like its provider, else the environment's key.
import type { ModelConfig, ModelRequest } from '@dormouse/ports';
import { misconfigured, namedKey } from '../provider/ask-provider.ts';
import type { HostedProvider, ModelDependencies, ProviderEnvironment } from '../model-dependencies.ts';

const ownBaseUrls: Readonly<Record<HostedProvider, string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
};

/** The headers that carry the key. */
export const keyHeaders: Readonly<Record<HostedProvider, (key: string) => Readonly<Record<string, string>>>> = {
  openai: (key) => ({ authorization: `Bearer ${key}` }),
  anthropic: (key) => ({ 'x-api-key': key }),
};

export const hostedProviders = Object.keys(ownBaseUrls) as readonly HostedProvider[];

export const standardBaseUrl = (environment: ProviderEnvironment, provider: HostedProvider): string =>
  withoutSlash(environment[provider]?.baseUrl ?? ownBaseUrls[provider]);

/** Where a secret that is named like a provider may be sent when it was set without origins. (H1) */
export const standardOrigins = (environment: ProviderEnvironment): Readonly<Record<HostedProvider, string>> => ({
  openai: new URL(standardBaseUrl(environment, 'openai')).origin,
  anthropic: new URL(standardBaseUrl(environment, 'anthropic')).origin,
});

export const baseUrlOf = (
  { environment }: Pick<ModelDependencies, 'environment'>,
  provider: HostedProvider,
  { baseUrl }: ModelConfig,
): string => (baseUrl === null ? standardBaseUrl(environment, provider) : withoutSlash(baseUrl));

/** @throws ModelFault that names the next step when there is no key. */
export async function hostedKey(
  dependencies: ModelDependencies,
  provider: HostedProvider,
  request: ModelRequest,
  baseUrl: string,
): Promise<string> {
  const { origin } = new URL(baseUrl);
  const named = await namedKey(dependencies, request, origin);
  if (named !== null) return named;
  const secret = await dependencies.secret(request.tenant, provider, origin); // (H2)
  if (secret !== null) return secret;
  const { environment } = dependencies;
  const key = environment[provider]?.key ?? null;
  if (key === null)
    throw misconfigured(`there is no key for ${provider}: set one with \`dormouse secrets set ${provider}\``);
  if (origin === new URL(standardBaseUrl(environment, provider)).origin) return key;
  throw misconfigured(`the key of the environment may not be sent to ${origin}: set a secret with that origin`); // (H1)
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '');
