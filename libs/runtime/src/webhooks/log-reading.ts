// From the commits of a tenant to the deliveries that they lead to, in batches.
//
// Invariants:
//   R1. A delivery's id is a function of thread, position, event and endpoint: what is read twice is one delivery.
//   R2. Deliveries are stored before the place moves on: a reader that ends between the two reads the batch again.
//       With R1: of what an endpoint asks for nothing is lost between commit and delivery, and nothing is doubled.
//   R3. The endpoints that a batch is told to are read after the batch: one whose making was answered before a commit
//       is told that commit.
//   R4. An endpoint is told commits whose time is not before it was made or enabled.
import type { Commit, ThreadDirectory, Webhook, WebhookDeliveries, WebhookDelivery } from '@dormouse/ports';
import { publicId, timeSortedName } from '../ingress-gateway/access/client-id.ts';
import { rfc3339 } from '../ingress-gateway/read/api-json.ts';
import { openCommit } from '../log/envelope.ts';
import type { EndpointIndex, FilteredThread } from './endpoint-index.ts';
import type { ThreadStatuses } from './thread-statuses.ts';
import { statusEvents, type ToldEvent, toldEvents } from './told-events.ts';

/** Answers with what it has stored. @throws Fault: nothing, or a part, was stored, and all is read again. */
export type TellCommits = (
  commits: readonly Commit[],
  endpoints: EndpointIndex,
  now: number,
) => Promise<readonly WebhookDelivery[]>;

export interface TellCommitsDeps {
  readonly directory: Pick<ThreadDirectory, 'get'>;
  readonly deliveries: Pick<WebhookDeliveries, 'insert'>;
  readonly statuses: ThreadStatuses;
}

export function createTellCommits({ directory, deliveries, statuses }: TellCommitsDeps): TellCommits {
  async function toldOf(commit: Commit, endpoints: EndpointIndex): Promise<readonly ToldEvent[]> {
    const { events } = openCommit(commit);
    const around = endpoints.wants(statusEvents) ? await statuses.around(commit, events) : null;
    return toldEvents(commit.version, events, around).filter(({ event }) => endpoints.wants([event]));
  }

  /** The row of a thread is stored before its first commit. */
  async function filteredBy(
    { tenant, thread }: Commit,
    told: readonly ToldEvent[],
    endpoints: EndpointIndex,
  ): Promise<FilteredThread | null> {
    const isNeeded = told.some(({ event }) => endpoints.needsThread(event));
    return isNeeded ? directory.get({ tenant, thread }) : null;
  }

  return async (commits, endpoints, now) => {
    const made: WebhookDelivery[] = [];
    for (const commit of commits) {
      const told = await toldOf(commit, endpoints);
      const thread = await filteredBy(commit, told, endpoints);
      for (const one of told)
        for (const webhook of endpoints.wanting(one.event, thread))
          if (commit.at >= webhook.activeSince) made.push(deliveryOf(commit, one, webhook, now)); // (R4)
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
