// The endpoints of customers in memory, by URL. Port: ports/world/webhook-transport.ts.
import type { WebhookOutcome, WebhookRequest, WebhookTransport } from '@dormouse/ports';

/** May answer late, or never. */
export type Receiver = (request: WebhookRequest) => Promise<WebhookOutcome>;

export type Receivers = Map<string, Receiver>;

/** A URL without a receiver is unreachable, and no URL is refused. */
export const createWebhookTransport = (receivers: Receivers): WebhookTransport => ({
  post: (request) => receivers.get(request.url)?.(request) ?? Promise.resolve({ answered: false, code: 'UNREACHABLE' }),
  judge: () => Promise.resolve({ ok: true }),
});
