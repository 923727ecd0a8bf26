// Attributes that several kinds of spans have.
import type { Agent, Span, SpanAttributes, ToolDefinition, TenantId } from '@dormouse/ports';
import { type Call, isBuiltIn } from '@dormouse/thread';
import { attribute } from './semconv.ts';

/** Attributes that every span of a thread has. */
export function threadAttributes(
  { tenant, thread }: { readonly tenant: TenantId; readonly thread: string },
  at: number,
): SpanAttributes {
  return {
    [attribute.tenant]: tenant,
    [attribute.thread]: thread,
    [attribute.conversation]: thread,
    [attribute.at]: new Date(at).toISOString(),
  };
}

/** Of a wake's agent. */
export const agentAttributes = ({ id, model }: Pick<Agent, 'id' | 'model'>): SpanAttributes => ({
  [attribute.agentId]: id,
  [attribute.provider]: providerName(model.provider),
});

/**
 * A tool's name, or `unknown` for one that its agent does not have: a model made that name up, and its words are in no
 * span and no label unless contents are asked for.
 */
export const shownTool = ({ operation, toolServer }: Pick<Call, 'operation' | 'toolServer'>): string =>
  toolServer !== null || isBuiltIn(operation) ? operation : 'unknown';

/** A tool's description is content. */
export const toolAttributes = (
  tools: readonly Pick<ToolDefinition, 'name' | 'description'>[],
  name: unknown,
): SpanAttributes => ({ [attribute.toolDescription]: tools.find((tool) => tool.name === name)?.description });

const providerNames: Readonly<Record<string, string>> = { 'openai-compatible': 'openai_compatible' };

/** `gen_ai.provider.name` of a provider. */
export const providerName = (provider: string): string => providerNames[provider] ?? provider;

export function serverAttributes(address: string | null): Span['attributes'] {
  const url = URL.parse(address ?? '');
  if (url === null) return {};
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return { [attribute.serverAddress]: url.hostname, [attribute.serverPort]: port };
}
