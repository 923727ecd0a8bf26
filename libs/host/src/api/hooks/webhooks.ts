// Webhooks to customers: requests, answers and operations.
import { deliveryStates, testEvent, webhookEvents } from '@dormouse/ports';
import { z } from 'zod';
import { listOf, listQuery, metadata, name, nullableTime, time } from '../field.ts';
import { adminOfAll, operationsOf, readerOfAll } from '../operation.ts';

const url = z.string().min(1).max(2_048).meta({
  description:
    'http or https, without credentials. What could never be called is refused: private addresses, plain http and loopback that the installation does not allow.',
});

const events = z
  .array(z.enum(webhookEvents))
  .min(1)
  .max(webhookEvents.length)
  .refine((given) => new Set(given).size === given.length, 'names an event twice');

const filter = z
  .strictObject({ agents: z.array(name).min(1).max(50), metadata })
  .partial()
  .meta({
    id: 'WebhookFilter',
    description: 'Threads of one of these agents, and with all these labels. What is absent lets every thread through.',
  });

const state = z.enum(['active', 'disabled']);

export const newWebhook = z.strictObject({ url, events, filter: filter.nullable().default(null) }).meta({
  id: 'NewWebhook',
  description: 'An address, and what it is to be told.',
});

export const webhookPatch = z.strictObject({ url, events, filter: filter.nullable(), state }).partial().meta({
  id: 'WebhookPatch',
  description: 'Only what is named changes. What happens while it is `disabled` is not told to it, also not later.',
});

const problem = z.object({ code: z.string(), detail: z.string(), since: time });

export const webhook = z
  .object({
    id: z.string(),
    url: z.string(),
    events: z.array(z.string()),
    filter: z
      .object({
        agents: z.array(z.string()).meta({ description: 'Names of agents.' }).optional(),
        metadata: metadata.optional(),
      })
      .nullable(),
    state,
    created_at: time,
    updated_at: time,
    problems: z.array(problem).meta({
      description: '`WEBHOOK_FAILING` while every attempt fails, `WEBHOOK_DISABLED` where the runtime has disabled it.',
    }),
  })
  .meta({ id: 'Webhook', description: 'An address that is told what happens in threads.' });

const madeWebhook = webhook.extend({ secret: z.string() }).meta({
  id: 'MadeWebhook',
  description: 'With the signing secret, which is shown this once.',
});

const newSecret = z.object({ secret: z.string() }).meta({
  id: 'WebhookSecret',
  description: 'The new signing secret, shown this once. The one before it signs too for 24 hours.',
});

const attempt = z.object({
  at: time,
  status: z
    .union([z.int(), z.string()])
    .meta({ description: 'The HTTP status, or `OUTBOUND_FORBIDDEN`, `TIMEOUT`, `UNREACHABLE`.' }),
  ms: z.int().meta({ description: 'How long the POST took, in milliseconds.' }),
});

export const webhookDelivery = z
  .object({
    id: z.string().meta({ description: 'The `webhook-id` of every attempt.' }),
    event: z.enum([...webhookEvents, testEvent]),
    state: z.enum(deliveryStates),
    created_at: time,
    attempts: z.array(attempt),
    next_at: nullableTime,
  })
  .meta({ id: 'WebhookDelivery', description: 'What was sent, or is to be sent, to one webhook.' });

const begun = z.object({ id: z.string() }).meta({ id: 'DeliveryBegun', description: 'The delivery that is sent.' });

export const recovery = z
  .strictObject({ since: z.iso.datetime({ offset: true }) })
  .meta({ id: 'WebhookRecovery', description: 'From when on what has failed is sent again.' });

const recovered = z.object({ matched: z.int().meta({ description: 'Deliveries that are sent again.' }) }).meta({
  id: 'WebhookRecovered',
  description: 'How many deliveries are sent again: those that failed or were aborted, and were made since then.',
});

export const webhookOperations = operationsOf('webhooks', {
  createWebhook: {
    route: 'POST /v1/webhooks',
    summary: 'Make a webhook; its signing secret is shown once',
    access: adminOfAll,
    audit: { action: 'webhook.created', target: '{{id}}' },
    body: newWebhook,
    answers: { 201: madeWebhook },
    location: '/v1/webhooks/{{id}}',
    answersSecret: true,
    problems: ['TOO_MANY_WEBHOOKS'],
  },
  listWebhooks: {
    route: 'GET /v1/webhooks',
    summary: 'Webhooks, oldest first, and what is wrong with each',
    access: readerOfAll,
    query: listQuery,
    answers: { 200: listOf(webhook) },
  },
  getWebhook: {
    route: 'GET /v1/webhooks/{id}',
    summary: 'One webhook',
    access: readerOfAll,
    answers: { 200: webhook },
  },
  patchWebhook: {
    route: 'PATCH /v1/webhooks/{id}',
    summary: 'Change, disable or enable a webhook',
    access: adminOfAll,
    audit: { action: 'webhook.changed', target: '{id}' },
    body: webhookPatch,
    answers: { 200: webhook },
  },
  deleteWebhook: {
    route: 'DELETE /v1/webhooks/{id}',
    summary: 'Delete a webhook and the log of its deliveries',
    access: adminOfAll,
    audit: { action: 'webhook.deleted', target: '{id}' },
    answers: { 204: null },
  },
  rotateWebhook: {
    route: 'POST /v1/webhooks/{id}/rotate',
    summary: 'A new signing secret; the one before it signs too for 24 hours',
    access: adminOfAll,
    audit: { action: 'webhook.rotated', target: '{id}' },
    answers: { 200: newSecret },
    answersSecret: true,
  },
  testWebhook: {
    route: 'POST /v1/webhooks/{id}/test',
    summary: 'Send it a `webhook.test`',
    access: adminOfAll,
    answers: { 202: begun },
    problems: ['WEBHOOK_DISABLED'],
  },
  listDeliveries: {
    route: 'GET /v1/webhooks/{id}/deliveries',
    summary: 'What was sent and what waits, newest first, for 30 days',
    access: readerOfAll,
    query: listQuery,
    answers: { 200: listOf(webhookDelivery) },
  },
  redeliver: {
    route: 'POST /v1/webhooks/{id}/deliveries/{delivery}/redeliver',
    summary: 'Send a delivery again, under the same id',
    access: adminOfAll,
    answers: { 202: begun },
    problems: ['WEBHOOK_DISABLED'],
  },
  recoverWebhook: {
    route: 'POST /v1/webhooks/{id}/recover',
    summary: 'Send again what failed or was aborted since a time',
    access: adminOfAll,
    body: recovery,
    answers: { 202: recovered },
    problems: ['WEBHOOK_DISABLED'],
  },
});
