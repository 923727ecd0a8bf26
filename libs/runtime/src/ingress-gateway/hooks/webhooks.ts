// Endpoints of customers, as their administrators manage them, and the log of what was delivered to each.
//
// Invariants:
//   W1. A secret passes through here once, on its way to the seal and to the client that made it; it is never read
//       back.
//   W2. A URL that could never be called is refused here: its form, a literal or resolved address, plain http. What a
//       name resolves to later is judged again before every delivery.
//   W3. Whatever changes what is to be sent is counted at the tenant's reader after it is stored: the process that
//       sends reads it before it sends anything that comes later.
//   W4. A change is made to the endpoint that was read for it, or to a newer one: two at once are both made.
import {
  type Entropy,
  Fault,
  type Page,
  type PageRequest,
  testEvent,
  type Webhook,
  type WebhookDelivery,
  webhookOwner,
  type TenantId,
} from '@dormouse/ports';
import { hash } from 'node:crypto';
import type { IngressParts } from '../ingress-ports.ts';
import { publicId, timeSortedName } from '../access/client-id.ts';
import { rfc3339 } from '../read/api-json.ts';
import { answered, type Answered, invalid, notFound, refused } from '../refusal.ts';

export type WebhookContent = Pick<Webhook, 'url' | 'events' | 'filter'>;
export type WebhookPatch = Partial<WebhookContent & Pick<Webhook, 'state'>>;

export interface ShownWebhook extends WebhookContent, Pick<Webhook, 'id' | 'state' | 'createdAt' | 'updatedAt'> {
  readonly problems: readonly { readonly code: string; readonly detail: string; readonly since: number }[];
}

export type ShownDelivery = Pick<WebhookDelivery, 'id' | 'event' | 'state' | 'createdAt' | 'attempts' | 'nextAt'>;

export interface WebhookApi {
  /** The secret is shown this once. (W1) */
  create(tenant: TenantId, content: WebhookContent): Promise<Answered<ShownWebhook & { readonly secret: string }>>;
  list(tenant: TenantId, page: PageRequest): Promise<Page<ShownWebhook>>;
  get(tenant: TenantId, id: string): Promise<Answered<ShownWebhook>>;
  change(tenant: TenantId, id: string, patch: WebhookPatch): Promise<Answered<ShownWebhook>>;
  remove(tenant: TenantId, id: string): Promise<Answered<null>>;
  /** The secret before it signs too for a day. */
  rotate(tenant: TenantId, id: string): Promise<Answered<{ readonly secret: string }>>;
  test(tenant: TenantId, id: string): Promise<Answered<{ readonly id: string }>>;
  deliveries(tenant: TenantId, id: string, page: PageRequest): Promise<Answered<Page<ShownDelivery>>>;
  redeliver(tenant: TenantId, id: string, delivery: string): Promise<Answered<{ readonly id: string }>>;
  /** Sends again what failed or was aborted and was made at `since` or later. */
  recover(tenant: TenantId, id: string, since: number): Promise<Answered<{ readonly matched: number }>>;
}

export type WebhookPorts = Pick<
  IngressParts,
  | 'webhooks'
  | 'webhookDeliveries'
  | 'webhookReaders'
  | 'webhookTransport'
  | 'tenantLog'
  | 'sealer'
  | 'clock'
  | 'entropy'
>;

/** Of a tenant; several that are made at once may pass it by their number. */
export const webhooksMax = 20_000;
const oldSecretMs = 86_400_000;
/** Changes at once alternate; more rounds than this mean that something else is wrong. */
const replaceAttemptsMax = 10;

export function createWebhookApi(ports: WebhookPorts): WebhookApi {
  const { webhooks, webhookDeliveries: deliveries, webhookReaders: readers, sealer, clock, entropy } = ports;

  /** (W3) */
  async function counted(tenant: TenantId): Promise<void> {
    if (!(await readers.changed(tenant, null))) await readers.changed(tenant, await ports.tenantLog.end(tenant));
  }

  /** Where it could never be called, why. (W2) */
  async function refusalOf(url: string, tenant: TenantId): Promise<Answered<never> | null> {
    const verdict = await ports.webhookTransport.judge(url, tenant);
    if (verdict.ok) return null;
    return invalid([{ pointer: '/url', detail: `could never be called, OUTBOUND_FORBIDDEN: ${verdict.detail}` }]);
  }

  /** (W4) */
  async function changed(
    tenant: TenantId,
    id: string,
    change: (webhook: Webhook) => Webhook,
  ): Promise<Answered<Webhook>> {
    for (let attempt = 0; attempt < replaceAttemptsMax; attempt += 1) {
      const seen = await webhooks.get(tenant, id);
      if (seen === null) return notFound('webhook');
      const next = { ...change(seen), updatedAt: clock.now() };
      if (!(await webhooks.replace(next, seen))) continue;
      await counted(tenant);
      return answered(next);
    }
    throw new Fault('UNAVAILABLE', 'This webhook is being changed all the time.', { retryAfterMs: 1_000 });
  }

  /** For an endpoint that is sent to. */
  async function active(tenant: TenantId, id: string): Promise<Answered<Webhook>> {
    const webhook = await webhooks.get(tenant, id);
    if (webhook === null) return notFound('webhook');
    if (webhook.state === 'active') return answered(webhook);
    return refused('WEBHOOK_DISABLED', 'The webhook is disabled. Enable it with PATCH and {"state": "active"}.');
  }

  return {
    async create(tenant, content) {
      const refusal = await refusalOf(content.url, tenant);
      if (refusal !== null) return refusal;
      if ((await webhooks.count(tenant)) >= webhooksMax)
        return refused('TOO_MANY_WEBHOOKS', `A tenant has at most ${webhooksMax} webhooks.`);
      const now = clock.now();
      const id = publicId('whk', timeSortedName(now, entropy.nonce()));
      const secret = newSecret(entropy);
      const webhook: Webhook = {
        ...{ tenant, id, ...content, state: 'active', before: null, failingSince: null, problem: null },
        ...{ createdAt: now, updatedAt: now, activeSince: now },
        sealed: sealer.seal(webhookOwner({ tenant, id }), secret),
      };
      if (!(await webhooks.insert(webhook))) throw new Fault('UNAVAILABLE', 'This id was given before; try again.');
      await counted(tenant);
      return answered({ ...shown(webhook), secret });
    },
    async list(tenant, page) {
      const { data, nextCursor } = await webhooks.list(tenant, page);
      return { data: data.map(shown), nextCursor };
    },
    async get(tenant, id) {
      const webhook = await webhooks.get(tenant, id);
      return webhook === null ? notFound('webhook') : answered(shown(webhook));
    },
    async change(tenant, id, { state, ...patch }) {
      if ((await webhooks.get(tenant, id)) === null) return notFound('webhook');
      const refusal = patch.url === undefined ? null : await refusalOf(patch.url, tenant);
      if (refusal !== null) return refusal;
      const done = await changed(tenant, id, (webhook) => inState({ ...webhook, ...patch }, state, clock.now()));
      return done.ok ? answered(shown(done.value)) : done;
    },
    async remove(tenant, id) {
      if (!(await webhooks.remove(tenant, id))) return notFound('webhook');
      await counted(tenant);
      return answered(null);
    },
    async rotate(tenant, id) {
      const secret = newSecret(entropy);
      const sealed = sealer.seal(webhookOwner({ tenant, id }), secret);
      const until = clock.now() + oldSecretMs;
      const done = await changed(tenant, id, (webhook) => ({
        ...webhook,
        ...{ sealed, before: { sealed: webhook.sealed, until } },
      }));
      return done.ok ? answered({ secret }) : done;
    },
    async test(tenant, id) {
      const found = await active(tenant, id);
      if (!found.ok) return found;
      const now = clock.now();
      const delivery = testDelivery(found.value, publicId('dlv', timeSortedName(now, entropy.nonce())), now);
      await deliveries.insert([delivery]);
      await counted(tenant);
      return answered({ id: delivery.id });
    },
    async deliveries(tenant, id, page) {
      if ((await webhooks.get(tenant, id)) === null) return notFound('webhook');
      const { data, nextCursor } = await deliveries.list(tenant, id, page);
      return answered({ data: data.map(shownDelivery), nextCursor });
    },
    async redeliver(tenant, id, delivery) {
      const found = await active(tenant, id);
      if (!found.ok) return found;
      if (!(await deliveries.again({ tenant, webhook: id, id: delivery }, clock.now()))) return notFound('delivery');
      await counted(tenant);
      return answered({ id: delivery });
    },
    async recover(tenant, id, since) {
      const found = await active(tenant, id);
      if (!found.ok) return found;
      const matched = await deliveries.recover(tenant, id, since, clock.now());
      if (matched > 0) await counted(tenant);
      return answered({ matched });
    },
  };
}

/** 32 bytes, as Standard Webhooks write them. */
const newSecret = (entropy: Entropy): string =>
  `whsec_${hash('sha256', `${entropy.nonce()} ${entropy.nonce()}`, 'base64')}`;

/** Enabling it begins anew: what happened meanwhile is not told, and how long it failed is forgotten. */
function inState(webhook: Webhook, state: Webhook['state'] | undefined, now: number): Webhook {
  if (state === undefined || state === webhook.state) return webhook;
  if (state === 'disabled') return { ...webhook, state };
  return { ...webhook, state, activeSince: now, failingSince: null, problem: null };
}

function shown(webhook: Webhook): ShownWebhook {
  const { id, url, events, filter, state, createdAt, updatedAt, failingSince, problem } = webhook;
  const isFailing = state === 'active' && failingSince !== null;
  const failing = { code: 'WEBHOOK_FAILING', detail: 'Every attempt since then has failed.', since: failingSince ?? 0 };
  const problems = [...(problem === null ? [] : [problem]), ...(isFailing ? [failing] : [])];
  return { ...{ id, url, events, filter, state, createdAt, updatedAt }, problems };
}

const shownDelivery = ({ id, event, state, createdAt, attempts, nextAt }: WebhookDelivery): ShownDelivery => ({
  ...{ id, event, state, createdAt, attempts, nextAt },
});

const testDelivery = ({ tenant, id: webhook }: Webhook, id: string, now: number): WebhookDelivery => ({
  ...{ tenant, webhook, id, event: testEvent, createdAt: now, state: 'pending', attempts: [], tries: 0, nextAt: now },
  body: JSON.stringify({ type: testEvent, timestamp: rfc3339(now), data: { webhook_id: webhook } }),
});
