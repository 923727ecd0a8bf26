// A thread's row as the table has it.
import type { ThreadRow, ThreadStatus, TenantId } from '@dormouse/ports';

export const rowColumns =
  'tenant, thread, status, agent, agent_version, parent, family, user_id, external_id, title, metadata, created_at, updated_at, position, opening, first_words, waiting_on, forked_from';
export const readColumns = `${rowColumns}, leaving_at`;

export interface StoredThreadRow {
  readonly tenant: TenantId;
  readonly thread: string;
  readonly status: ThreadStatus;
  readonly agent: string;
  readonly agent_version: number;
  readonly parent: string | null;
  readonly family: string;
  readonly user_id: string | null;
  readonly external_id: string | null;
  readonly title: string | null;
  readonly metadata: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly position: number;
  readonly opening: string | null;
  readonly first_words: string | null;
  readonly waiting_on: string | null;
  readonly forked_from: string | null;
  readonly leaving_at: number | null;
}

export function rowOf(row: StoredThreadRow): ThreadRow {
  return {
    tenant: row.tenant,
    thread: row.thread,
    status: row.status,
    agent: row.agent,
    agentVersion: row.agent_version,
    parent: row.parent,
    family: row.family,
    userId: row.user_id,
    externalId: row.external_id,
    title: row.title,
    metadata: JSON.parse(row.metadata) as ThreadRow['metadata'],
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    position: row.position,
    opening: row.opening === null ? null : (JSON.parse(row.opening) as ThreadRow['opening']),
    ...(row.first_words === null ? {} : { firstWords: row.first_words }),
    ...(row.waiting_on === null ? {} : { waitingOn: JSON.parse(row.waiting_on) as ThreadRow['waitingOn'] }),
    ...(row.forked_from === null || row.forked_from === '' ? {} : { forkedFrom: row.forked_from }),
    ...(row.leaving_at === null ? {} : { leavingAt: row.leaving_at }),
  };
}
