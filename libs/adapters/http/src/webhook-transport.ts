// HTTP to the endpoints of customers: signed as Standard Webhooks say, over the outbound guard and its pools.
// Not here: retries and places (the runtime's), and the meaning of a status.
//
// Invariants:
//   K1. Every secret signs the same id, time and bytes; the signatures are in the order of the secrets.
//   K2. The time that is signed is the wall clock's: a receiver compares it with its own, whatever the runtime's clock
//       says.
//   K3. A redirect is an answer like any other; it is never followed. Nothing of an answer's body is read.
//   K4. A URL over plain http needs a rule for its name as long as the name has no address: none could be judged.
//   K5. Rules of the tenant that cannot be read say nothing of the endpoint: `post` throws, and sends nothing.
import { createBoundedMap } from '@dormouse/collections';
import type { WebhookOutcome, WebhookTransport, TenantId } from '@dormouse/ports';
import { Webhook } from 'standardwebhooks';
import { bodyType } from './credential.ts';
import { exchange } from './exchange.ts';
import { createOriginPools, limitedByExchange } from './origin-pools.ts';
import { namesPlainHost, noTenantOutbound, type OutboundRule, type TenantOutbound } from './outbound-allow.ts';
import { createOutboundGuard, readUrl, type Resolver } from './outbound-guard.ts';

export interface WebhookTransportOptions {
  /** From `parseOutboundAllow`. */
  readonly outboundAllow: readonly OutboundRule[];
  /** As `GuardedFetchOptions.outboundOf`. */
  readonly outboundOf?: (tenant: TenantId) => Promise<TenantOutbound>;
  readonly resolver?: Resolver;
  /** Of one tenant. */
  readonly connectionsPerOriginMax?: number;
}

const userAgent = 'dormouse-webhooks';
const signersKept = 4_096;
/** A header of the answer, and what it says of a delivery that is not to be sent again. */
const deliveryHeader = 'webhook-delivery';
const abortMessage = 'abort-message';

export function createWebhookTransport({
  outboundAllow: rules,
  outboundOf = () => Promise.resolve(noTenantOutbound),
  resolver,
  connectionsPerOriginMax = 64,
}: WebhookTransportOptions): WebhookTransport & { close(): Promise<void> } {
  const guard = createOutboundGuard({ rules, resolver });
  const pools = createOriginPools({
    guard,
    connectionsMax: connectionsPerOriginMax,
    connectTimeoutMs: 5_000,
    ...limitedByExchange,
  });
  const signers = createBoundedMap<Webhook>(signersKept);

  const signatureBy = (secret: string, id: string, at: Date, body: string): string =>
    (signers.get(secret) ?? signers.set(secret, new Webhook(secret))).sign(id, at, body);

  return {
    async post({ tenant, url: text, id, body, secrets, timeoutMs, signal }) {
      const url = readUrl(text);
      if (typeof url === 'string') return unanswered('OUTBOUND_FORBIDDEN');
      const own = await outboundOf(tenant); // (K5)
      const answer = await pools.get(`${tenant} webhooks`, url, own);
      if (!answer.ok) return unanswered(answer.code);
      const at = new Date(); // (K2)
      const signatures = secrets.map((secret) => signatureBy(secret, id, at, body)); // (K1)
      const outcome = await exchange(answer.pool, {
        method: 'POST',
        path: `${url.pathname}${url.search}`,
        headers: [
          ...['content-type', bodyType, 'user-agent', userAgent, 'webhook-id', id],
          ...['webhook-timestamp', String(Math.floor(at.getTime() / 1_000))],
          ...['webhook-signature', signatures.join(' ')],
        ],
        body,
        timeoutMs,
        keepBytesMax: 0, // (K3)
        ...(signal && { signal }),
      });
      if (!outcome.answered) return unanswered(outcome.code);
      return { answered: true, status: outcome.status, aborts: outcome.headers[deliveryHeader] === abortMessage };
    },

    async judge(text, tenant) {
      const url = readUrl(text);
      if (typeof url === 'string') return { ok: false, detail: url };
      const { rules: own } = await outboundOf(tenant);
      const verdict = await guard.check(url, own);
      if (verdict.ok) return { ok: true };
      if (verdict.code !== 'NAME_NOT_RESOLVED') return { ok: false, detail: verdict.detail };
      const isPlain = url.protocol === 'http:';
      if (!isPlain || namesPlainHost([...rules, ...own], url)) return { ok: true };
      return { ok: false, detail: 'plain http needs a rule in DORMOUSE_OUTBOUND_ALLOW for its host' }; // (K4)
    },

    close: () => pools.close(),
  };
}

function unanswered(code: string): WebhookOutcome {
  const isKnown = code === 'OUTBOUND_FORBIDDEN' || code === 'TIMEOUT';
  return { answered: false, code: isKnown ? code : 'UNREACHABLE' };
}
