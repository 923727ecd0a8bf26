// From the commits of a tenant to the deliveries that they lead to, in batches.
//
// Invariants:
//   R1. A delivery's id is a function of thread, position, event and endpoint: what is read twice is one delivery.
//   R2. Deliveries are stored before the place moves on: a reader that ends between the two reads the batch again.
//       With R1: of what an endpoint asks for nothing is lost between commit and delivery, and nothing is doubled.
//   R3. The endpoints that a batch is told to are read after the batch: one whose making was answered before a commit
//       is told that commit.
//   R4. An endpoint is told commits whose time is not before it was made or enabled.
import {
  type Commit,
  type ThreadDirectory,
  type Webhook,
  type WebhookDeliveries,
  type WebhookDelivery,
} from '@dormouse/ports';
import { publicId, timeSortedName } from '../ingress-gateway/access/client-id.ts';
import { rfc3339 } from '../ingress-gateway/read/api-json.ts';
import { openCommit } from '../log/envelope.ts';
import type { ThreadStatuses } from './thread-statuses.ts';
import { statusEvents, type ToldEvent, toldEvents } from './told-events.ts';

/** Answers with what it has stored. @throws Fault: nothing, or a part, was stored, and all is read again. */
export type TellCommits = (
  commits: readonly Commit[],
  endpoints: readonly Webhook[],
  now: number,
) => Promise<readonly WebhookDelivery[]>;

export function createTellCommits({
  directory,
  deliveries,
  statuses,
}: {
  readonly directory: Pick<ThreadDirectory, 'get'>;
  readonly deliveries: Pick<WebhookDeliveries, 'insert'>;
  readonly statuses: ThreadStatuses;
}): TellCommits {
  async function toldOf(commit: Commit, wantsStatus: boolean): Promise<readonly ToldEvent[]> {
    const { events } = openCommit(commit);
    return toldEvents(commit.version, events, wantsStatus ? await statuses.around(commit, events) : null);
  }

  /** Those whose filter lets the thread through. */
  async function filtered({ tenant, thread }: Commit, wanting: readonly Webhook[]): Promise<readonly Webhook[]> {
    if (wanting.every(({ filter }) => filter === null)) return wanting;
    const row = await directory.get({ tenant, thread });
    return wanting.filter(({ filter }) => filter === null || (row !== null && passes(filter, row)));
  }

  return async (commits, endpoints, now) => {
    const active = endpoints.filter(({ state }) => state === 'active');
    const wantsStatus = active.some(({ events }) => events.some((event) => statusEvents.includes(event)));
    const made: WebhookDelivery[] = [];
    for (const commit of active.length === 0 ? [] : commits) {
      const told = await toldOf(commit, wantsStatus);
      if (told.length === 0) continue;
      const wanting = active.filter(
        ({ events, activeSince }) => commit.at >= activeSince && told.some(({ event }) => events.includes(event)),
      ); // (R4)
      for (const webhook of await filtered(commit, wanting))
        for (const one of told)
          if (webhook.events.includes(one.event)) made.push(deliveryOf(commit, one, webhook, now));
    }
    await deliveries.insert(made); // (R2)
    return made;
  };
}

/** (R1) */
function deliveryOf(commit: Commit, told: ToldEvent, { tenant, id: webhook }: Webhook, now: number): WebhookDelivery {
  const { thread, at } = commit;
  const { event, position, about } = told;
  const data = { thread_id: thread, position, ...about };
  return {
    ...{ tenant, webhook, event, createdAt: now, state: 'pending', attempts: [], tries: 0, nextAt: now },
    id: publicId('dlv', timeSortedName(at, JSON.stringify([thread, position, event, webhook]))),
    body: JSON.stringify({ type: event, timestamp: rfc3339(at), data }),
  };
}

type Filtered = Pick<NonNullable<Awaited<ReturnType<ThreadDirectory['get']>>>, 'agent' | 'metadata'>;

function passes({ agents, metadata = {} }: NonNullable<Webhook['filter']>, row: Filtered): boolean {
  const isOfAgents = agents === undefined || agents.includes(row.agent);
  return isOfAgents && Object.entries(metadata).every(([label, value]) => row.metadata[label] === value);
}
