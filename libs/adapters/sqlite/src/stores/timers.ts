// Durable timers. Port: ports/bus/timers.ts.
import type { DueTimer, Timers, TenantId } from '@dormouse/ports';
import type { Reader } from '../file/database.ts';
import type { GroupWriter } from '../writer/group-writer.ts';

interface TimerRow {
  readonly tenant: TenantId;
  readonly thread: string;
  readonly timer: string;
  readonly due: number;
}

// The first due time stays.
const insert = 'INSERT INTO timers (tenant, thread, timer, due) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING';
const remove = 'DELETE FROM timers WHERE tenant = ? AND thread = ? AND timer = ?';
const selectDue = 'SELECT tenant, thread, timer, due FROM timers WHERE due <= ? ORDER BY due LIMIT ?';
const selectDueWithout =
  'SELECT tenant, thread, timer, due FROM timers WHERE due <= ? AND tenant NOT IN (SELECT value FROM json_each(?)) ORDER BY due LIMIT ?';
const selectNext = 'SELECT min(due) AS due FROM timers';

export function createTimers(writer: GroupWriter, reader: Reader): Timers {
  return {
    set: async (timers) => {
      await writer.rows(
        'prompt',
        insert,
        timers.map((timer) => [timer.tenant, timer.thread, timer.timerId, timer.due]),
      );
    },
    due: async (now, limit, without = []) =>
      (without.length === 0
        ? reader.all<TimerRow>(selectDue, now, limit)
        : reader.all<TimerRow>(selectDueWithout, now, JSON.stringify(without), limit)
      ).map(timerOf),
    next: async () => reader.one<{ due: number | null }>(selectNext)?.due ?? null,
    drop: async (timers) => {
      await writer.rows(
        'lazy',
        remove,
        timers.map((timer) => [timer.tenant, timer.thread, timer.timerId]),
      );
    },
  };
}

const timerOf = ({ tenant, thread, timer, due }: TimerRow): DueTimer => ({ tenant, thread, timerId: timer, due });
