// The console's client: the same one that programs use, with the session's cookie instead of a key.
import { ApiProblem, ask, createClient, type Schemas } from '@dormouse/client';
import { watchedFetch } from './connection.ts';

export const client = createClient({
  baseUrl: globalThis.location.origin,
  fetch: watchedFetch,
  retry: { totalMsMax: 4_000 },
});
export const { api } = client;
export { ask };

export type WaitingOn = Schemas['WaitingOn'];
export type ToolCall = Schemas['ToolCall'];
export type Turn = Schemas['Turn'];
export type Step = Schemas['Step'];

/** A row of the list of threads. */
export type ThreadRow = Schemas['ThreadSummary'];

/** What a question is shown as, in the inbox and in its thread. */
export type Question = Omit<Schemas['Choice'], 'kind'> & {
  readonly kind: string;
  readonly thread_id?: string;
  readonly agent?: string | { readonly name: string };
  readonly since?: string;
  readonly operation?: string;
  readonly arguments_hash?: string;
};

/** A request whose operation the typed document does not have under one name; @throws ApiProblem, ConnectionProblem. */
export async function send<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const headers: Record<string, string> = {
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(method === 'POST' ? { 'idempotency-key': crypto.randomUUID() } : {}),
  };
  const response = await watchedFetch(path, { method, headers, body: JSON.stringify(body) });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '') && text !== '';
  const answer: unknown = isJson ? JSON.parse(text) : undefined;
  return ask(Promise.resolve({ response, data: answer as Answer, error: answer }));
}

/** What to tell a person about a failed request, with each field that was refused. */
export function problemText(error: unknown): string {
  if (error instanceof ApiProblem)
    return [
      error.message,
      ...(error.problem.errors ?? []).map(({ pointer, detail }) => `${pointer || '/'} ${detail}`),
    ].join(' ');
  return error instanceof Error ? error.message : String(error);
}
