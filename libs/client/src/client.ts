// The client of the API: typed by the OpenAPI document, retries while a server is busy, and can follow a thread.
//
// `api` is openapi-fetch as it is (`api.GET('/v1/threads/{id}', {params: {path: {id: thread}}})`, answers `{data,
// error}`); `ask` turns such an answer into its data or an `ApiProblem`. Nothing here knows Node: it works in browsers
// too.
import createApi, { type Client as Api } from 'openapi-fetch';
import { ApiProblem, isProblem, unnamedProblem } from './api-problem.ts';
import { followThread, type FollowOptions, type StreamFrame } from './follow.ts';
import type { components, paths } from './generated/openapi.ts';
import { followTenant, type TenantEvent, type TenantEventsOptions } from './tenant-events.ts';
import { retryingFetch, type RetrySettings, retrySettings } from './retrying-fetch.ts';

export type Schemas = components['schemas'];
export type Thread = Schemas['Thread'];
export type Message = Schemas['Message'];
export type Agent = Schemas['Agent'];
export type Choice = Schemas['Choice'];

export interface ClientOptions {
  /** Without `/v1`, such as `http://127.0.0.1:7420`. */
  readonly baseUrl: string;
  /** A tenant's key, or a thread token; absent in a page of the runtime itself, whose session is a cookie. */
  readonly key?: string;
  readonly fetch?: typeof globalThis.fetch;
  readonly retry?: Partial<RetrySettings>;
}

export interface Client {
  readonly baseUrl: string;
  readonly api: Api<paths>;
  /** Durable events and live frames of a thread, from `after` on, across reconnections. */
  follow(thread: string, options?: FollowOptions): AsyncGenerator<StreamFrame, void, undefined>;
  /** Durable events of all threads, as thin rows, across reconnections; ends only by its signal. Needs a key. */
  events(options?: TenantEventsOptions): AsyncGenerator<TenantEvent, void, undefined>;
}

export function createClient(options: ClientOptions): Client {
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const given = options.fetch ?? globalThis.fetch;
  // Called as a function: a browser's fetch refuses to be a method of anything but its window.
  const send: typeof globalThis.fetch = (input, init) => given(input, init);
  const headers: Record<string, string> = options.key === undefined ? {} : { authorization: `Bearer ${options.key}` };
  const settings = { ...retrySettings, ...options.retry };
  const connection = { baseUrl, headers, fetch: send, retry: settings };
  const api = createApi<paths>({
    baseUrl,
    headers,
    fetch: retryingFetch((request) => send(request), settings, baseUrl),
  });
  const end = async (): Promise<string> =>
    (await ask(api.GET('/v1/events', { params: { query: { after: 'latest' } } }))).next_cursor;
  return {
    baseUrl,
    api,
    follow: (thread, given = {}) => followThread(connection, thread, given),
    events: (given = {}) => followTenant(connection, given, end),
  };
}

/** The data of an answer. @throws ApiProblem when the API refused, ConnectionProblem when there was no answer. */
export async function ask<Data>(answer: Promise<{ data?: Data; error?: unknown; response: Response }>): Promise<Data> {
  const { data, error, response } = await answer;
  if (response.ok) return data as Data; // parsed by openapi-fetch; undefined only where the API sends no body
  if (isProblem(error)) throw new ApiProblem(response.status, error);
  throw new ApiProblem(response.status, unnamedProblem(response));
}

/** Every item of a list, page by page. */
export async function* everyItem<Item>(
  page: (
    cursor: string | undefined,
  ) => Promise<{ readonly data: readonly Item[]; readonly next_cursor: string | null }>,
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | undefined;
  do {
    const answer = await page(cursor);
    yield* answer.data;
    cursor = answer.next_cursor ?? undefined;
  } while (cursor !== undefined);
}

/** A short list, in full. */
export async function whole<Item>(
  page: (query: {
    readonly cursor?: string;
  }) => Promise<{ readonly data: readonly Item[]; readonly next_cursor: string | null }>,
): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of everyItem((cursor) => page(cursor === undefined ? {} : { cursor }))) items.push(item);
  return items;
}
