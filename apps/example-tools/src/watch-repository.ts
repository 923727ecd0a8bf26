// A subscription to an outside source: a repository's webhook. Each event signed by its host becomes one event of RAP.
//
// Invariants:
//   J1. A request that is not signed with our secret changes nothing. T31
//   J2. A delivery that the host repeats is emitted once.
//   J3. Only what an agent needs of an event is passed on, not the whole payload.
import { z } from 'zod';
import { defineTool, type Route, type Subscription, webhook } from '@dormouse/tool-server';

const kinds = ['push', 'pull_request', 'issues', 'release'] as const;
const subscribed = z.object({ repository: z.string(), events: z.array(z.enum(kinds)) });

export const watchRepository = defineTool(
  {
    name: 'watch_repository',
    description:
      'Watches a code repository: wakes the conversation for each push, pull request, issue or release that its host announces by webhook.',
    input: z.strictObject({
      repository: z
        .string()
        .max(200)
        .regex(/^[\w.-]+\/[\w.-]+$/)
        .describe('owner/name'),
      events: z.array(z.enum(kinds)).min(1).max(kinds.length).optional().describe('All when absent'),
    }),
  },
  async ({ repository, events = [...kinds] }, context) => {
    const text = `Watching ${repository} for ${events.join(', ')}.`;
    await context.subscribe({ text, data: { repository, events } });
    return undefined; // the confirmation was the result
  },
);

const payloadSchema = z.object({
  action: z.string().max(100).optional(),
  ref: z.string().max(500).optional(),
  repository: z.object({ full_name: z.string().max(200) }),
  sender: z.object({ login: z.string().max(100) }).optional(),
  pull_request: z.object({ number: z.number(), title: z.string().max(1_000) }).optional(),
  issue: z.object({ number: z.number(), title: z.string().max(1_000) }).optional(),
  release: z.object({ tag_name: z.string().max(200) }).optional(),
});

export const webhookPath = '/webhooks/repository';

/** The route that the host calls, signed like GitHub's: HMAC with SHA-256 of the body in `X-Hub-Signature-256`. (J1) */
export function repositoryWebhook(secret: string | undefined): Route {
  return webhook({
    path: webhookPath,
    secret: (server) => secret ?? server.secret('repository webhook'),
    scheme: 'github',
    handle({ payload, headers, deliveryId }, server) {
      const kind = headers['x-github-event'];
      const parsed = payloadSchema.safeParse(payload);
      if (typeof kind !== 'string' || !parsed.success) return; // a ping, or an event that no subscription covers
      for (const subscription of server.subscriptions(watchRepository.name))
        if (isWatched(subscription, kind, parsed.data.repository.full_name))
          subscription.emit(eventOf(kind, parsed.data), deliveryId === undefined ? {} : { eventId: deliveryId }); // (J2)
    },
  });
}

function isWatched({ data }: Subscription, kind: string, repository: string): boolean {
  const wanted = subscribed.safeParse(data);
  if (!wanted.success) return false;
  const isKind = wanted.data.events.some((event) => event === kind);
  return isKind && wanted.data.repository.toLowerCase() === repository.toLowerCase();
}

/** (J3) */
function eventOf(kind: string, payload: z.infer<typeof payloadSchema>): object {
  const { action, ref, repository, sender, pull_request: pull, issue, release } = payload;
  const about = pull ?? issue;
  return {
    event: kind,
    action,
    repository: repository.full_name,
    ref: ref ?? release?.tag_name,
    number: about?.number,
    title: about?.title,
    by: sender?.login,
  };
}
