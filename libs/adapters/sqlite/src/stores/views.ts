// Current views and open logins. Contracts: ports/stores/views.ts, ports/stores/logins.ts.
import { isCleared, type Login, type Logins, type View, type Views, viewsMax } from '@dormouse/ports';
import type { Reader } from '../file/database.ts';
import type { GroupWriter } from '../writer/group-writer.ts';

// Each change is a new row, so that the oldest change has the smallest id.
const replaceView = 'INSERT OR REPLACE INTO views (tenant, thread, view_type, content) VALUES (?, ?, ?, ?)';
const clearView = 'DELETE FROM views WHERE tenant = ? AND thread = ? AND view_type = ?';
const trimViews =
  'DELETE FROM views WHERE tenant = ?1 AND thread = ?2 AND id NOT IN ' +
  `(SELECT id FROM views WHERE tenant = ?1 AND thread = ?2 ORDER BY id DESC LIMIT ${viewsMax})`;
const selectViews = 'SELECT view_type, content FROM views WHERE tenant = ? AND thread = ? ORDER BY view_type';

export function createViews(writer: GroupWriter, reader: Reader): Views {
  return {
    put: async ({ tenant, thread }, view) => {
      if (isCleared(view)) return writer.run(clearView, tenant, thread, view.viewType);
      await Promise.all([
        writer.run(replaceView, tenant, thread, view.viewType, view.content),
        writer.run(trimViews, tenant, thread),
      ]);
    },
    list: async ({ tenant, thread }) =>
      reader
        .all<{ view_type: string; content: string }>(selectViews, tenant, thread)
        .map(({ view_type: viewType, content }): View => ({ viewType, content })),
  };
}

const putLogin = 'INSERT OR REPLACE INTO logins (tenant, thread, tool_call, sealed, expires_at) VALUES (?, ?, ?, ?, ?)';
const selectLogins =
  'SELECT tool_call, sealed, expires_at FROM logins WHERE tenant = ? AND thread = ? AND expires_at > ? ORDER BY tool_call';
const forgetLogin = 'DELETE FROM logins WHERE tenant = ? AND thread = ? AND tool_call = ?';
export const sweepLogins = 'DELETE FROM logins WHERE expires_at <= ?';

export function createLogins(writer: GroupWriter, reader: Reader): Logins {
  return {
    put: ({ tenant, thread }, { toolCallId, sealed, expiresAt }) =>
      writer.run(putLogin, tenant, thread, toolCallId, sealed, expiresAt),
    list: async ({ tenant, thread }, now) =>
      reader
        .all<{ tool_call: string; sealed: string; expires_at: number }>(selectLogins, tenant, thread, now)
        .map((row): Login => ({ toolCallId: row.tool_call, sealed: row.sealed, expiresAt: row.expires_at })),
    forget: ({ tenant, thread }, toolCallId) => writer.run(forgetLogin, tenant, thread, toolCallId),
  };
}
