// The events of all threads of a tenant, until their reader stops.
//
// Invariant:
//   E1. Each event comes once, and those of a thread in order, whatever happens to connections: the next connection
//       begins after the last cursor. With `latest` the first one begins where the end was when it was asked for.
import type { components } from './generated/openapi.ts';
import { type Connection, reconnecting, type ReconnectOptions } from './reconnecting.ts';

export type TenantEvent = components['schemas']['TenantEvent'];

export interface TenantEventsOptions extends ReconnectOptions {
  /** The last cursor already known, or `latest` for the end; absent for the beginning. */
  readonly after?: string;
}

/** `end` answers the cursor of the end. */
export async function* followTenant(
  connection: Connection,
  { after, ...options }: TenantEventsOptions,
  end: () => Promise<string>,
): AsyncGenerator<TenantEvent, void, undefined> {
  let cursor = after === 'latest' ? await end() : after;
  const url = (): string =>
    `${connection.baseUrl}/v1/events${cursor === undefined ? '' : `?after=${encodeURIComponent(cursor)}`}`;
  for await (const { event, data } of reconnecting(connection, url, options)) {
    if (event !== 'thread') continue; // new kinds of frames may appear
    const row = JSON.parse(data) as TenantEvent;
    cursor = row.cursor; // (E1)
    yield row;
  }
}
