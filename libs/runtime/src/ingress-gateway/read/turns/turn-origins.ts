// Finds what a fold that began in the middle of a log cannot know: the spans that caused a timer, a child, a call of an
// earlier turn, and the traces of messages that were queued before. Only a traced log is searched.
import { type Commit, parseTraceparent, type ThreadKey, type ThreadLog } from '@dormouse/ports';
import type { RecordedEvent } from '@dormouse/thread';
import { openCommit } from '../../../log/envelope.ts';
import { spanIdOf } from '../../../tracing/span-ids.ts';
import { inputIdOf } from '../../access/client-id.ts';
import { lastEventBefore } from '../log-scan.ts';
import type { Origins, TurnFold } from './turn-steps.ts';
import type { SpanLink } from './turn.ts';

/** What a commit refers to and the fold does not know. For one page: each cause is searched for once. */
export function createOrigins(log: ThreadLog, key: ThreadKey): (commit: Commit, fold: TurnFold) => Promise<Origins> {
  const causes = new Map<string, SpanLink>();
  const missing = new Set<string>();
  return async (commit, fold) => {
    if (commit.trace === null || fold.isFull) return {};
    for (const event of openCommit(commit).events) {
      const id = subjectOf(event);
      if (id === null || fold.knows(id) || causes.has(id) || missing.has(id)) continue;
      const link = await causeOf(log, key, id, commit.version + 1);
      if (link === null) missing.add(id);
      else causes.set(id, link);
    }
    return { causes, queued: await tracesOfQueued(log, key, commit, fold) };
  };
}

/** The timer, child or call that an event is about, if that is of an earlier commit and of this log. */
function subjectOf(event: RecordedEvent): string | null {
  switch (event.type) {
    case 'TimerFired':
      return event.timerId;
    case 'ChildReported':
      return event.childId;
    case 'ToolCallSettled':
      return event.cause.kind === 'completion' ? null : event.toolCallId;
    case 'SubscriptionEventReceived':
      return event.cause.kind === 'parent' ? null : event.toolCallId;
    default:
      return null;
  }
}

async function causeOf(log: ThreadLog, key: ThreadKey, id: string, before: number): Promise<SpanLink | null> {
  const set = await lastEventBefore(log, key, before, (event) => idBegunBy(event) === id);
  const commit = set === null ? null : await log.at(key, set.position);
  if (set === null || commit === null) return null;
  const { event } = set;
  if (event.type === 'ChildSpawned' && event.reason === 'event')
    return causeOf(log, key, event.toolCallId, commit.version + 1);
  const context = parseTraceparent(commit.trace);
  if (context === null) return null;
  const { traceId, spanId } = context;
  const call = 'toolCallId' in event ? event.toolCallId : undefined;
  return { traceId, spanId: call === undefined ? spanId : spanIdOf('execute_tool', key, call) };
}

function idBegunBy(event: RecordedEvent): string | null {
  switch (event.type) {
    case 'TimerSet':
      return event.timerId;
    case 'ChildSpawned':
      return event.childId;
    case 'ToolCallRequested':
      return event.toolCallId;
    default:
      return null;
  }
}

/** Messages that the commit accepts and another one has queued. */
async function tracesOfQueued(
  log: ThreadLog,
  key: ThreadKey,
  commit: Commit,
  fold: TurnFold,
): Promise<ReadonlyMap<string, string | null>> {
  const { events } = openCommit(commit);
  if (events.some(({ type }) => type === 'ThreadOpened')) return new Map(); // it brings its own message
  const messages = events.flatMap((event) => (event.type === 'MessageAccepted' ? [event.messageId] : []));
  const queued = messages.filter((id) => !fold.knows(id) && !commit.inputs.includes(inputOf(id)));
  if (queued.length === 0) return new Map();
  const commits = await log.findByInputs(key, queued.map(inputOf));
  return new Map(queued.map((id, index) => [id, parseTraceparent(commits[index]?.trace)?.traceId ?? null]));
}

const inputOf = (messageId: string): string => inputIdOf(messageId.slice(messageId.indexOf('_') + 1));
