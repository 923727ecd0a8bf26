// An agent as text: what is edited and compared is the JSON that the API takes, without what the runtime adds.
import type { Schemas } from '@dormouse/client';

/** The body that makes this very version. */
export function bodyOf(agent: Schemas['Agent']): object {
  const { id: _id, version: _version, created_at: _created, state: _state, ...body } = agent;
  return body;
}

export const textOfBody = (body: object): string => JSON.stringify(body, null, 2);

/** For the difference of two versions: instructions line by line, then the rest. */
export function comparableText(agent: Schemas['Agent']): string {
  const { instructions, ...rest } = bodyOf(agent) as { readonly instructions: string };
  return `${instructions}\n\n${textOfBody(rest)}`;
}

export const emptyAgent: object = {
  name: 'helper',
  instructions: 'You are a helpful assistant. Use your tools when they help.',
  model: { provider: 'demo' },
  tool_servers: [],
};
