// One attempt of one delivery: the POST, its record, and what it means for the endpoint.
//
// Invariants:
//   A1. An attempt is recorded before anything else follows from it; one that was broken off by the end of the process
//       is not recorded, and made again. A receiver may get a delivery twice, under one id.
//   A2. 2xx has delivered. Any other answer, a redirect too, and no answer within the time are failures; `webhook-
//       delivery: abort-message` ends the delivery, 410 the endpoint.
//   A3. An endpoint fails from its first failure without a success since. After five days of that, or a 410, it is
//       disabled, with a problem and a row in the audit; what waits for it has failed, and may be recovered.
import {
  type AttemptOutcome,
  type Clock,
  type Entropy,
  type Logger,
  type Metrics,
  type Sealer,
  type Webhook,
  type WebhookDeliveries,
  type WebhookDelivery,
  webhookOwner,
  type WebhookOutcome,
  type WebhookProblem,
  type Webhooks,
  type WebhookTransport,
} from '@dormouse/ports';
import type { Auditor } from '../audit/auditor.ts';
import { isFailingTooLong, retryDelayMs } from './retry-times.ts';

export interface AttemptDeps {
  readonly webhooks: Pick<Webhooks, 'get' | 'replace'>;
  readonly deliveries: Pick<WebhookDeliveries, 'record' | 'fail'>;
  readonly transport: Pick<WebhookTransport, 'post'>;
  readonly sealer: Sealer;
  readonly audit: Auditor;
  readonly clock: Clock;
  readonly entropy: Pick<Entropy, 'fraction'>;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly timeoutMs: number;
  /** Aborts when the process ends. */
  readonly signal: AbortSignal;
}

export interface Attempted {
  /** When the delivery is due again; null when it is not. */
  readonly nextAt: number | null;
  /** The endpoint as it was known when the attempt ended. */
  readonly seen: Webhook;
  /** The endpoint as it is since; null when it is gone. */
  readonly webhook: Webhook | null;
}

/**
 * Null when it was broken off (A1). @throws Fault: nothing was sent, or it is not known whether it was recorded; it is
 * made again, and counts neither as a try nor against the endpoint.
 */
export type Attempt = (sent: SentTo, delivery: WebhookDelivery) => Promise<Attempted | null>;

export interface SentTo {
  readonly webhook: Webhook;
  /** As it is known then: an attempt that began later may have ended, and changed it. (A3) */
  readonly newest: () => Webhook;
}

const changesAtOnceMax = 10;

export function createAttempt(deps: AttemptDeps): Attempt {
  const { webhooks, deliveries, clock, entropy, metrics, signal } = deps;

  function outcomeOf({ tries }: WebhookDelivery, answer: WebhookOutcome): AttemptOutcome {
    if (isSuccess(answer)) return { state: 'delivered', nextAt: null };
    if (answer.answered && answer.status === gone) return { state: 'failed', nextAt: null };
    if (answer.answered && answer.aborts) return { state: 'aborted', nextAt: null };
    const delayMs = retryDelayMs(tries + 1, entropy.fraction());
    return delayMs === null ? { state: 'failed', nextAt: null } : { state: 'pending', nextAt: clock.now() + delayMs };
  }

  /** What the attempt changes in its endpoint; null for nothing. (A3) */
  function changeBy(answer: WebhookOutcome): (webhook: Webhook) => Webhook | null {
    const now = clock.now();
    if (isSuccess(answer))
      return (webhook) => (webhook.failingSince === null ? null : { ...webhook, failingSince: null });
    if (answer.answered && answer.status === gone)
      return (webhook) => disabledBy(webhook, { detail: 'It answered 410.', since: now });
    if (answer.answered && answer.aborts) return () => null;
    return (webhook) => {
      const failingSince = webhook.failingSince ?? now;
      if (isFailingTooLong(failingSince, now))
        return disabledBy(webhook, { detail: 'Every attempt of five days failed.', since: now });
      return webhook.failingSince === null ? { ...webhook, failingSince } : null;
    };
  }

  async function changed(seen: Webhook, change: (webhook: Webhook) => Webhook | null): Promise<Webhook | null> {
    if (change(seen) === null) return seen;
    for (let tries = 0; tries < changesAtOnceMax; tries += 1) {
      const stored = await webhooks.get(seen.tenant, seen.id);
      const next = stored && change(stored);
      if (stored === null || next === null) return stored;
      if (!(await webhooks.replace(next, stored))) continue; // another change was made meanwhile
      if (next.state !== stored.state) await disabled(next);
      return next;
    }
    return seen; // the next attempt tries again
  }

  async function disabled({ tenant, id, problem }: Webhook): Promise<void> {
    deps.logger.warn('webhook_disabled', { tenant, webhook: id, why: problem?.detail });
    await deliveries.fail(tenant, id);
    await deps.audit.record({
      ...{ tenant, action: 'webhook.disabled', target: id, outcome: problem?.detail ?? 'done' },
      ...{ actor: 'notifier', from: null, requestId: null },
    });
  }

  return async ({ webhook, newest }, delivery) => {
    const at = clock.now();
    const { tenant, url } = webhook;
    const { id, body } = delivery;
    const secrets = secretsOf(deps.sealer, webhook, at);
    const answer = await deps.transport.post({ tenant, url, id, body, secrets, timeoutMs: deps.timeoutMs, signal });
    if (signal.aborted && !answer.answered) return null; // (A1)
    const status = answer.answered ? answer.status : answer.code;
    const outcome = outcomeOf(delivery, answer);
    const isRecorded = await deliveries.record(delivery, { at, status, ms: clock.now() - at }, outcome); // (A1)
    if (isRecorded && outcome.state !== 'pending')
      metrics.counter('dormouse_webhook_deliveries_total', outcome.state).add(1);
    const seen = newest();
    return { nextAt: isRecorded ? outcome.nextAt : null, seen, webhook: await changed(seen, changeBy(answer)) };
  };
}

const gone = 410;

const isSuccess = (answer: WebhookOutcome): boolean => answer.answered && answer.status >= 200 && answer.status < 300; // (A2)

const disabledBy = (webhook: Webhook, why: Omit<WebhookProblem, 'code'>): Webhook | null =>
  webhook.state === 'disabled'
    ? null
    : { ...webhook, state: 'disabled', problem: { code: 'WEBHOOK_DISABLED', ...why } };

/** The newest first; the one before it as long as it signs too. */
function secretsOf(sealer: Sealer, webhook: Webhook, now: number): readonly string[] {
  const owner = webhookOwner(webhook);
  const { sealed, before } = webhook;
  const all = before !== null && now < before.until ? [sealed, before.sealed] : [sealed];
  return all.map((each) => sealer.open(owner, each));
}
