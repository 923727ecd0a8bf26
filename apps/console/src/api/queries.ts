// What the screens read, by name: one place says the key, the request and how often it is asked again.
import { ApiProblem, whole, type Schemas } from '@dormouse/client';
import { keepPreviousData, queryOptions, QueryClient } from '@tanstack/react-query';
import { api, ask, send, type Question, type ThreadRow } from './client.ts';
import type { ThreadsSearch } from '../search.ts';
import { onReturn } from './connection.ts';

/** While a page is visible, what changes by itself is asked again at this pace. */
const liveMs = 2_000;
const slowMs = 10_000;

export const queries = new QueryClient({
  defaultOptions: {
    queries: { retry: 1, staleTime: 1_000, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
});
onReturn(() => void queries.invalidateQueries());

export type ThreadFilter = Omit<ThreadsSearch, 'new'>;

export function threadQuery(filter: ThreadFilter, cursor?: string): URLSearchParams {
  const query = new URLSearchParams({ limit: '100' });
  const { status, agent, parent, user, external, label, since } = filter;
  for (const [name, value] of Object.entries({ status, agent, parent, user_id: user, external_id: external, cursor }))
    if (value !== undefined && value !== '') query.set(name, value);
  const [name = '', value = ''] = (label ?? '').split('=', 2);
  if (name !== '' && value !== '') query.set(`metadata[${name}]`, value);
  if (since !== undefined && !Number.isNaN(Date.parse(since)))
    query.set('created_after', new Date(since).toISOString());
  return query;
}

interface Page<Item> {
  readonly data: readonly Item[];
  readonly next_cursor: string | null;
}

export const threadList = (filter: ThreadFilter, pages: number) =>
  queryOptions({
    queryKey: ['threads', filter, pages],
    queryFn: async () => {
      const rows: ThreadRow[] = [];
      let cursor: string | null | undefined;
      for (let page = 0; page < pages && cursor !== null; page += 1) {
        const answer: Page<ThreadRow> = await send('GET', `/v1/threads?${threadQuery(filter, cursor)}`);
        rows.push(...answer.data);
        cursor = answer.next_cursor;
      }
      return { rows, hasMore: cursor !== null };
    },
    placeholderData: keepPreviousData,
    refetchInterval: liveMs,
  });

export const threadAt = (thread: string, at?: number) =>
  queryOptions({
    queryKey: ['thread', thread, at ?? 'now'],
    queryFn: () =>
      ask(api.GET('/v1/threads/{id}', { params: { path: { id: thread }, query: { at } } })) as Promise<
        Schemas['Thread']
      >,
    placeholderData: keepPreviousData,
    ...(at === undefined ? { refetchInterval: slowMs } : { staleTime: Number.POSITIVE_INFINITY }),
  });

const path = (id: string) => ({ params: { path: { id } } });

export const toolCalls = (thread: string) =>
  queryOptions({
    queryKey: ['calls', thread],
    queryFn: () =>
      ask(api.GET('/v1/threads/{id}/tool-calls', { params: { path: { id: thread }, query: { limit: 200 } } })),
    refetchInterval: slowMs,
  });

export const turns = (thread: string) =>
  queryOptions({
    queryKey: ['turns', thread],
    queryFn: () =>
      whole(({ cursor }) => {
        const query = { limit: 200, after: cursor === undefined ? undefined : Number(cursor) };
        return ask(api.GET('/v1/threads/{id}/lineage', { params: { path: { id: thread }, query } }));
      }),
    refetchInterval: slowMs,
  });

export const messages = (thread: string) =>
  queryOptions({
    queryKey: ['messages', thread],
    queryFn: () =>
      ask(api.GET('/v1/threads/{id}/messages', { params: { path: { id: thread }, query: { limit: 100 } } })),
    refetchInterval: liveMs * 2,
  });

export const children = (thread: string) =>
  queryOptions({
    queryKey: ['children', thread],
    queryFn: () => ask(api.GET('/v1/threads/{id}/children', path(thread))),
    refetchInterval: slowMs,
  });

export const schedules = (thread: string) =>
  queryOptions({
    queryKey: ['schedules', thread],
    queryFn: () => ask(api.GET('/v1/threads/{id}/schedules', path(thread))),
    refetchInterval: slowMs,
  });

/** Every open question of the tenant. */
export const inbox = queryOptions({
  queryKey: ['inbox'],
  queryFn: async () => {
    const answer: Page<Question> = await send('GET', '/v1/choices?status=open&limit=200');
    return answer.data;
  },
  refetchInterval: liveMs,
});

export const agents = queryOptions({
  queryKey: ['agents'],
  queryFn: () => whole((query) => ask(api.GET('/v1/agents', { params: { query } }))),
  staleTime: slowMs,
});

export const agentVersion = (agent: string, version: number) =>
  queryOptions({
    queryKey: ['agent', agent, version],
    queryFn: () =>
      ask(api.GET('/v1/agents/{name}/versions/{n}', { params: { path: { name: agent, n: String(version) } } })),
    staleTime: Number.POSITIVE_INFINITY,
  });

export const toolServers = queryOptions({
  queryKey: ['tool-servers'],
  queryFn: () => whole((query) => ask(api.GET('/v1/tool-servers', { params: { query } }))),
  refetchInterval: slowMs,
});

export type ToolServerDetails = Schemas['ToolServerDetails'];

export const toolServer = (name: string) =>
  queryOptions({
    queryKey: ['tool-server', name],
    queryFn: () => ask(api.GET('/v1/tool-servers/{name}', { params: { path: { name } } })),
    refetchInterval: slowMs,
  });

const manifestMs = 15_000;

/** The manifest of a tool server as it is now. A key that may not probe is refused once, and asks no more. */
export const manifestNow = (server: string) =>
  queryOptions({
    queryKey: ['manifest', server],
    queryFn: () =>
      ask(
        api.POST('/v1/tool-servers/{name}/probe', {
          params: { path: { name: server }, query: { credential: 'skip' } },
        }),
      ),
    retry: false,
    staleTime: manifestMs,
    refetchInterval: ({ state: { error } }) =>
      error instanceof ApiProblem && error.status === 403 ? false : manifestMs,
  });

export const parkedThreads = queryOptions({
  queryKey: ['parked'],
  queryFn: () => whole((query) => ask(api.GET('/v1/parked', { params: { query } }))),
  refetchInterval: slowMs,
});

export const parkedThread = (thread: string) =>
  queryOptions({
    queryKey: ['parked', thread],
    queryFn: () => ask(api.GET('/v1/parked/{thread}', { params: { path: { thread } } })),
    refetchInterval: slowMs,
  });

export const session = queryOptions({
  queryKey: ['session'],
  queryFn: () => ask(api.GET('/v1/session')),
});

export const secrets = queryOptions({
  queryKey: ['secrets'],
  queryFn: () => whole((query) => ask(api.GET('/v1/secrets', { params: { query } }))),
});

export const apiKeys = queryOptions({
  queryKey: ['api-keys'],
  queryFn: () => whole((query) => ask(api.GET('/v1/api-keys', { params: { query } }))),
});

export type UsageRow = Schemas['UsageReport']['data'][number];

export const usage = (groupBy: 'agent' | 'day', from: string, to: string) =>
  queryOptions({
    queryKey: ['usage', groupBy, from, to],
    queryFn: () => ask(api.GET('/v1/usage', { params: { query: { group_by: groupBy, from, to } } })),
    placeholderData: keepPreviousData,
    refetchInterval: slowMs,
  });
