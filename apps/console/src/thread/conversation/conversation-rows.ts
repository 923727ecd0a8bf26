// The conversation as rows: what people and agents said and did, from the events that are here; a gap where they are
// not loaded yet. Pure.
//
// Invariants:
//   R1. Rows are in the order of positions, and a row's key never changes while it is shown.
//   R2. A call is one row, at its request; its result is a row only where the request is not loaded.
import { isEvent, type ThreadEvent } from '@dormouse/client';
import { chunkOf, chunkSize, type EventLog } from '../log/event-log.ts';

export type Row =
  | { readonly kind: 'gap'; readonly key: string; readonly chunk: number }
  | { readonly kind: RowKind; readonly key: string; readonly position: number; readonly event: ThreadEvent };

export type RowKind = 'user' | 'assistant' | 'failure' | 'call' | 'arrival' | 'child' | 'note';

const kinds: Readonly<Record<string, RowKind>> = {
  message_accepted: 'user',
  completion_recorded: 'assistant',
  completion_failed: 'failure',
  tool_call_requested: 'call',
  tool_call_settled: 'call',
  subscription_event_received: 'arrival',
  external_event_received: 'arrival',
  child_reported: 'arrival',
  parent_message_received: 'arrival',
  schedule_came: 'arrival',
  child_spawned: 'child',
  message_refused: 'failure',
  request_refused: 'note',
  toolset_rejected: 'failure',
  toolset_changed: 'note',
  context_compacted: 'note',
  model_changed: 'note',
  model_fallback: 'note',
  budget_exceeded: 'failure',
  title_set: 'note',
  turn_interrupted: 'note',
  thread_forked: 'note',
  thread_parked: 'failure',
  thread_resumed: 'note',
  content_erased: 'note',
  credential_refresh_failed: 'failure',
  subscription_closed: 'note',
  thread_closed: 'note',
};

const cached = new WeakMap<readonly ThreadEvent[], readonly Exclude<Row, { readonly kind: 'gap' }>[]>();

/** Rows up to a position. (R1) */
export function conversationRows(log: EventLog, upTo: number): readonly Row[] {
  const rows: Row[] = [];
  const last = upTo === 0 ? -1 : chunkOf(upTo);
  for (let chunk = 0; chunk <= last; chunk += 1) {
    const events = log.chunk(chunk);
    if (events === undefined) rows.push({ kind: 'gap', key: `gap ${chunk}`, chunk });
    else
      for (const row of rowsOf(events)) {
        if (row.position > upTo) break;
        if (!isResultOfKnownCall(log, row.event)) rows.push(row);
      }
    const isCut = events !== undefined && chunk < last && events.length < chunkSize;
    if (isCut) rows.push({ kind: 'gap', key: `gap ${chunk}`, chunk });
  }
  return rows;
}

function rowsOf(events: readonly ThreadEvent[]): readonly Exclude<Row, { readonly kind: 'gap' }>[] {
  const known = cached.get(events);
  if (known !== undefined) return known;
  const rows = events.flatMap((event) => {
    const kind = kinds[event.type];
    if (kind === undefined || isSilent(event)) return [];
    return [{ kind, key: `event ${event.position}`, position: event.position, event }];
  });
  cached.set(events, rows);
  return rows;
}

/** A completion that only asks for tools says nothing. */
const isSilent = (event: ThreadEvent): boolean =>
  (isEvent(event, 'completion_recorded') && event.message.text === '' && (event.message.reasoning ?? '') === '') ||
  (isEvent(event, 'schedule_came') && event.skipped);

/** (R2) */
const isResultOfKnownCall = (log: EventLog, event: ThreadEvent): boolean =>
  isEvent(event, 'tool_call_settled') && log.call(event.tool_call_id).requested !== undefined;
