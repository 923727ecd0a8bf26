// Schedules of a tenant: requests, answers and operations.
import { z } from 'zod';
import { id, listOf, listQuery, name, nullableTime, time } from '../field.ts';
import { adminOfAll, operationsOf, readerOfAll } from '../operation.ts';

const fields = {
  name,
  cron: z.string().min(1).max(200),
  time_zone: z.string().min(1).max(100),
  agent: name,
  message: z.string().min(1).max(65_536),
  external_id: id.nullable(),
  missed: z.enum(['skip', 'once']),
};

export const newTenantSchedule = z
  .strictObject({
    ...fields,
    time_zone: fields.time_zone.default('UTC'),
    external_id: fields.external_id.default(null),
    missed: fields.missed.default('once'),
  })
  .meta({
    id: 'NewTenantSchedule',
    description:
      'At each time of the cron line the open thread of the `external_id` is woken, or one is opened. `message` is text with `{{/name}}`, `{{/scheduled_for}}` and `{{/missed}}`.',
  });

export const tenantSchedule = z
  .object({
    ...{ id: z.string(), ...fields, name: z.string(), agent: z.string(), external_id: z.string().nullable() },
    ...{ created_at: time, next_at: nullableTime, last_fired_at: nullableTime, last_scheduled_for: nullableTime },
    fired: z.int(),
    skipped: z.int(),
  })
  .meta({
    id: 'TenantSchedule',
    description: '`fired` counts times that have led to a message, `skipped` those that came and led to none.',
  });

export const scheduleOperations = operationsOf('schedules', {
  createSchedule: {
    route: 'POST /v1/schedules',
    summary: 'Wake or open a thread at every time of a cron line',
    access: adminOfAll,
    audit: { action: 'schedule.created', target: '{{name}}' },
    body: newTenantSchedule,
    answers: { 201: tenantSchedule, 200: tenantSchedule },
    location: '/v1/schedules/{{name}}',
    problems: ['ALREADY_EXISTS', 'TOO_MANY_SCHEDULES'],
  },
  listTenantSchedules: {
    route: 'GET /v1/schedules',
    summary: 'All schedules of the tenant by name: when each comes next, and what came of its times',
    access: readerOfAll,
    query: listQuery,
    answers: { 200: listOf(tenantSchedule) },
  },
  deleteSchedule: {
    route: 'DELETE /v1/schedules/{name}',
    summary: 'Fire it no more',
    access: adminOfAll,
    audit: { action: 'schedule.deleted', target: '{name}' },
    answers: { 204: null },
  },
});
