// Parked threads and their waiting inputs. Contract: ports/stores/parked-threads.ts.
import { readJson } from '@dormouse/json';
import {
  pageOf,
  type ParkedThread,
  type ParkedThreads,
  parkedWhileReplayed,
  type ParkingMark,
  placeBefore,
  type TenantId,
  type ThreadKey,
} from '@dormouse/ports';
import type { ThreadInput } from '@dormouse/thread';
import type { Reader } from '../file/database.ts';
import type { GroupWriter } from '../writer/group-writer.ts';

interface ThreadRow {
  readonly tenant: TenantId;
  readonly thread: string;
  readonly mark: ParkingMark;
  readonly reason: string;
  readonly parked_at: number;
}

interface InputRow {
  readonly input: string;
  readonly trace: string | null;
  readonly dropped_at: number | null;
}

const park =
  "INSERT INTO parked_threads (tenant, thread, mark, reason, parked_at) VALUES (?, ?, 'parked', ?, ?) " +
  "ON CONFLICT DO UPDATE SET mark = 'parked'";
const markIfNot =
  "INSERT INTO parked_threads (tenant, thread, mark, reason, parked_at) VALUES (?, ?, 'parked', ?, ?) ON CONFLICT DO NOTHING";
const add =
  'INSERT INTO parked_inputs (tenant, thread, input_id, input, trace) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING';
const selectThread =
  'SELECT tenant, thread, mark, reason, parked_at FROM parked_threads WHERE tenant = ? AND thread = ?';
const selectInputs =
  'SELECT input, trace, dropped_at FROM parked_inputs WHERE tenant = ? AND thread = ? ORDER BY place';
const selectPage =
  'SELECT tenant, thread, mark, reason, parked_at FROM parked_threads WHERE tenant = ? AND (parked_at, thread) > (?, ?) ' +
  'ORDER BY parked_at, thread LIMIT ?';
const replay = "UPDATE parked_threads SET mark = 'replay' WHERE tenant = ? AND thread = ?";
const drop = 'UPDATE parked_inputs SET dropped_at = ? WHERE tenant = ? AND thread = ? AND input_id = ?';
const remove = 'DELETE FROM parked_inputs WHERE tenant = ? AND thread = ? AND input_id = ?';
const unpark =
  "DELETE FROM parked_threads WHERE tenant = ? AND thread = ? AND mark = 'replay' AND NOT EXISTS (SELECT 1 FROM parked_inputs " +
  'WHERE parked_inputs.tenant = parked_threads.tenant AND parked_inputs.thread = parked_threads.thread AND dropped_at IS NULL)';
const selectParkedFor = "SELECT tenant, thread FROM parked_threads WHERE mark = 'parked' AND reason = ?";
const selectReplays = "SELECT tenant, thread FROM parked_threads WHERE mark = 'replay'";

export function createParkedThreads(writer: GroupWriter, reader: Reader): ParkedThreads {
  return {
    mark: async ({ tenant, thread }) => reader.one<ThreadRow>(selectThread, tenant, thread)?.mark ?? null,
    park: ({ tenant, thread }, reason, at) => writer.run(park, tenant, thread, reason, at),
    add: async ({ tenant, thread }, input, trace, at) => {
      await writer.run(add, tenant, thread, input.id, JSON.stringify(input), trace);
      await writer.run(markIfNot, tenant, thread, parkedWhileReplayed, at);
    },
    inputs: async ({ tenant, thread }) =>
      reader.all<InputRow>(selectInputs, tenant, thread).map(({ input, trace, dropped_at: droppedAt }) => ({
        input: readJson(input) as ThreadInput,
        trace,
        droppedAt,
      })),
    get: async ({ tenant, thread }) => {
      const row = reader.one<ThreadRow>(selectThread, tenant, thread);
      return row && parkedOf(row);
    },
    list: async (tenant, page) => {
      const place = placeBefore(page) ?? [-1, ''];
      const rows = reader.all<ThreadRow>(selectPage, tenant, ...place, page.limit + 1);
      return pageOf(rows.map(parkedOf), page, ({ parkedAt, thread }) => [parkedAt, thread]);
    },
    replay: ({ tenant, thread }) => writer.changes(replay, tenant, thread),
    drop: ({ tenant, thread }, inputId, at) => writer.changes(drop, at, tenant, thread, inputId),
    remove: ({ tenant, thread }, inputId) => writer.run(remove, tenant, thread, inputId),
    parkedFor: async (reason) =>
      reader.all<ThreadKey>(selectParkedFor, reason).map(({ tenant, thread }) => ({ tenant, thread })),
    replays: async () => reader.all<ThreadKey>(selectReplays).map(({ tenant, thread }) => ({ tenant, thread })),
    unpark: ({ tenant, thread }) => writer.changes(unpark, tenant, thread),
  };
}

const parkedOf = ({ tenant, thread, mark, reason, parked_at: parkedAt }: ThreadRow): ParkedThread => ({
  ...{ tenant, thread, mark, reason, parkedAt },
});
