// The active endpoints of a tenant, by what they ask for: a commit is held against those that may want it, not against
// all of ten thousand.
//
// Invariants:
//   X1. An endpoint whose filter names labels is found by the first of them; the whole filter decides.
import type { ThreadRow, Webhook, WebhookEvent, WebhookFilter } from '@dormouse/ports';

/** What a filter looks at. */
export type FilteredThread = Pick<ThreadRow, 'agent' | 'metadata'>;

export interface EndpointIndex {
  /** Whether any endpoint asks for one of these. */
  wants(events: readonly WebhookEvent[]): boolean;
  /** Whether what is told of the event depends on the thread. */
  needsThread(event: WebhookEvent): boolean;
  /** Those that ask for the event and let the thread through; null where it is not known or not needed. */
  wanting(event: WebhookEvent, thread: FilteredThread | null): readonly Webhook[];
}

interface Asking {
  /** Without labels. */
  readonly others: Webhook[];
  /** By label and value. (X1) */
  readonly byLabel: Map<string, Webhook[]>;
  isFiltered: boolean;
}

const nameOf = (label: string, value: string): string => JSON.stringify([label, value]);

export function createEndpointIndex(endpoints: Iterable<Webhook>): EndpointIndex {
  const asking = new Map<WebhookEvent, Asking>();
  for (const webhook of endpoints)
    if (webhook.state === 'active') for (const event of webhook.events) add(event, webhook);

  function add(event: WebhookEvent, webhook: Webhook): void {
    const of = asking.get(event) ?? { others: [], byLabel: new Map<string, Webhook[]>(), isFiltered: false };
    asking.set(event, of);
    if (webhook.filter !== null) of.isFiltered = true;
    const [first] = Object.entries(webhook.filter?.metadata ?? {});
    if (first === undefined) return void of.others.push(webhook);
    const name = nameOf(...first);
    const same = of.byLabel.get(name);
    if (same === undefined) of.byLabel.set(name, [webhook]);
    else same.push(webhook);
  }

  return {
    wants: (events) => events.some((event) => asking.has(event)),
    needsThread: (event) => asking.get(event)?.isFiltered === true,
    wanting: (event, thread) => {
      const of = asking.get(event);
      if (of === undefined) return [];
      const labels = thread === null ? [] : Object.entries(thread.metadata);
      const labelled = labels.flatMap(([label, value]) => of.byLabel.get(nameOf(label, value)) ?? []);
      return [...of.others, ...labelled].filter(
        ({ filter }) => filter === null || (thread !== null && passes(filter, thread)),
      );
    },
  };
}

function passes({ agents, metadata = {} }: WebhookFilter, thread: FilteredThread): boolean {
  const isOfAgents = agents === undefined || agents.includes(thread.agent);
  return isOfAgents && Object.entries(metadata).every(([label, value]) => thread.metadata[label] === value);
}
