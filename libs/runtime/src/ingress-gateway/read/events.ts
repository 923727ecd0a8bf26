// Events as clients see them, and pages of them.
import type { Commit, Page, ThreadKey } from '@dormouse/ports';
import { type Content, plainText, type RecordedEvent } from '@dormouse/thread';
import type { IngressParts } from '../ingress-ports.ts';
import { apiJson, apiType } from './api-json.ts';
import { commitsAfter, commitsBefore, endOf, type PlacedEvent, placedBefore, placedEvents } from './log-scan.ts';
import { answered, type Answered } from '../refusal.ts';

/** One durable event in the API's own JSON. */
export type ApiEvent = { readonly position: number; readonly at: string; readonly type: string } & Readonly<
  Record<string, unknown>
>;

export function apiEvent({ position, at, event }: PlacedEvent): ApiEvent {
  const { type, turnId, cause, ...fields } = readableFields(event);
  const given = Object.entries(fields).filter(([, value]) => value !== null); // a null optional field is absent
  return apiJson({ position, at, type: apiType(type), turnId, cause, ...Object.fromEntries(given) }) as ApiEvent;
}

type ReadableFields = Pick<RecordedEvent, 'type' | 'turnId' | 'cause'> & Readonly<Record<string, unknown>>;

/** What came as text is shown as text; where a choice's answer goes and the hash of a question are not shown. */
function readableFields(event: RecordedEvent): ReadableFields {
  switch (event.type) {
    case 'SubscriptionEventHeld':
    case 'SubscriptionEventReceived':
    case 'ParentMessageReceived':
    case 'ExternalEventReceived':
      return { ...event, content: readableContent(event.content), text: plainText(event.content) };
    case 'ChildReported':
      return { ...event, report: plainText(event.report) };
    case 'ChoiceRequested': {
      const { answerTo: _sealed, question: _hash, ...shown } = event;
      return shown;
    }
    case 'OauthRequested': {
      const { question: _hash, ...shown } = event;
      return shown;
    }
    case 'ToolCallSettled': {
      const blobs = blobsOf(event);
      return { ...event, content: readableContent(event.content), ...(blobs.length === 0 ? {} : { blobs }) };
    }
    case 'MessageAccepted':
    case 'MessageQueued':
    case 'ScheduleCame':
      return { ...event, content: readableContent(event.content) };
    default:
      return event;
  }
}

/** Every text has its `text`: of one that is too large for the log, the beginning, and `blob` for the whole. */
const readableContent = (content: Content): readonly object[] =>
  content.map((item) => (item.type === 'text' && 'blob' in item ? { ...item, text: item.preview } : item));

/** What `GET …/blobs/{sha256}` has of a result. */
function blobsOf({
  content,
  displayAs = [],
}: Extract<RecordedEvent, { readonly type: 'ToolCallSettled' }>): readonly string[] {
  const shown = displayAs.flatMap((segment) => (segment.type === 'image' ? [segment.content] : []));
  const named = [...content, ...shown].flatMap((item) =>
    'blob' in item && item.blob !== undefined ? [item.blob] : [],
  );
  return [...new Set(named)];
}

interface EventPage extends Page<ApiEvent> {
  readonly nextCursor: string;
}

export interface EventApi {
  /** Never ends: `nextCursor` is the last position given, so a poller keeps its place. */
  page(key: ThreadKey, after: number, limit: number): Promise<Answered<EventPage>>;
  /** Backwards from the event before `before`, null: from the last one; `nextCursor` as above. */
  pageBack(key: ThreadKey, before: number | null, limit: number): Promise<Answered<EventPage>>;
  /** The commits as they are stored, for `dormouse export` and `verify`; pages end with the log. */
  commits(key: ThreadKey, after: number, limit: number): Promise<Answered<Page<Commit>>>;
}

export function createEventApi({ log, threads }: Pick<IngressParts, 'log' | 'threads'>): EventApi {
  /** The first `limit` events of these commits. */
  async function firstOf(
    commits: AsyncIterable<Commit>,
    eventsOf: (commit: Commit) => readonly PlacedEvent[],
    limit: number,
  ): Promise<readonly ApiEvent[]> {
    const data: ApiEvent[] = [];
    for await (const commit of commits) {
      await threads.announce(commit);
      data.push(...eventsOf(commit).map(apiEvent));
      if (data.length >= limit) break;
    }
    return data.slice(0, limit);
  }

  return {
    async page(key, after, limit) {
      const found = await threads.find(key);
      if (!found.ok) return found;
      const data = await firstOf(commitsAfter(log, key, after), (commit) => placedEvents(commit, after), limit);
      return answered({ data, nextCursor: String(data.at(-1)?.position ?? after) });
    },
    async pageBack(key, before, limit) {
      const found = await threads.find(key);
      if (!found.ok) return found;
      const end = before ?? Number.POSITIVE_INFINITY;
      const data = await firstOf(commitsBefore(log, key, end), (commit) => placedBefore(commit, end), limit);
      return answered({ data, nextCursor: String(data.at(-1)?.position ?? before ?? 0) });
    },
    async commits(key, after, limit) {
      const found = await threads.find(key);
      if (!found.ok) return found;
      const data: Commit[] = [];
      for await (const commit of commitsAfter(log, key, after)) {
        if (data.length === limit) return answered({ data, nextCursor: String(endOf(data.at(-1))) });
        await threads.announce(commit);
        data.push(commit);
      }
      return answered({ data, nextCursor: null });
    },
  };
}
