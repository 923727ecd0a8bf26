// Tenants of an installation, managed with the platform key: requests, answers and operations.
import { z } from 'zod';
import { tenantEntryProblem } from '@dormouse/adapter-http';
import { tenantIdForm } from '@dormouse/ports';
import { parseAllowedOrigins } from '../http/door/allowed-origins.ts';
import { listOf, listQuery, shortText, time } from './field.ts';
import { byState, operationsOf } from './operation.ts';

const tenantIdText = z
  .string()
  .regex(tenantIdForm, 'must be 1 to 63 lowercase letters, digits or dashes, and begin with a letter or digit');

const amount = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const rate = z.number().positive().max(1_000_000);

const quotaNames = [
  ...['threads_max', 'subscriptions_max', 'tool_servers_max', 'streams_max', 'stored_bytes_max'],
  ...['tokens_per_day_max', 'cost_micros_per_day_max', 'completions_in_flight_max'],
] as const;

const everyQuota = <Value extends z.ZodType>(value: Value) =>
  Object.fromEntries(quotaNames.map((each) => [each, value])) as Record<(typeof quotaNames)[number], Value>;

const changedQuotas = z
  .strictObject({ requests_per_s: rate.nullable().optional(), ...everyQuota(amount.nullable().optional()) })
  .meta({ id: 'TenantQuotaChanges', description: 'Those that are named change; null takes one back to its default.' });

const shownQuotas = z
  .object({ requests_per_s: z.number().nullable(), ...everyQuota(z.int().nullable()) })
  .meta({ id: 'TenantQuotas', description: 'Null is no limit.' });

const origins = z
  .array(
    z.string().max(300).refine(isOrigin, 'must be an origin, such as https://app.example.com or https://*.example.com'),
  )
  .max(100);

const outboundAllow = z
  .array(
    z
      .string()
      .max(300)
      .superRefine((text, context) => {
        const problem = tenantEntryProblem(text);
        if (problem !== null) context.addIssue({ code: 'custom', message: problem, input: text });
      }),
  )
  .max(100);

const fields = {
  name: shortText,
  quotas: changedQuotas,
  weight: z.number().positive().max(1_000),
  origins,
  retention_days: z.int().min(1).max(36_500).nullable(),
  trace_content: z.boolean(),
  outbound_allow: outboundAllow,
};

const optionally = z.strictObject(fields).partial().shape;

export const newTenant = z
  .strictObject({ ...optionally, id: tenantIdText })
  .meta({ id: 'NewTenant', description: 'Only `id` is required; an id is never used twice.' });

export const tenantPatch = z
  .strictObject({ ...optionally, state: z.enum(['active', 'suspended']).optional() })
  .meta({ id: 'TenantPatch', description: 'Only what is named changes.' });

export const tenant = z
  .object({
    id: z.string(),
    name: z.string(),
    state: z.enum(['active', 'suspended', 'deleting']),
    quotas: shownQuotas,
    weight: z.number(),
    origins: z.array(z.string()),
    retention_days: z.int().nullable(),
    trace_content: z.boolean(),
    outbound_allow: z.array(z.string()),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Tenant', description: 'A customer of this installation.' });

const madeTenant = z
  .object({ id: z.string(), key: z.string() })
  .meta({ id: 'MadeTenant', description: 'The tenant, and the text of its first key, which has every scope.' });

export const tenantOperations = operationsOf('tenants', {
  createTenant: {
    route: 'POST /v1/tenants',
    summary: 'Make a tenant; the text of its first key, with every scope, is shown once',
    access: 'platform',
    audit: { action: 'tenant.created', target: '{{id}}' },
    body: newTenant,
    answers: { 201: madeTenant },
    location: '/v1/tenants/{{id}}',
    answersSecret: true,
    problems: ['ALREADY_EXISTS'],
  },
  listTenants: {
    route: 'GET /v1/tenants',
    summary: 'All tenants by id, but for deleted ones',
    access: 'platform',
    query: listQuery,
    answers: { 200: listOf(tenant) },
  },
  getTenant: {
    route: 'GET /v1/tenants/{id}',
    summary: 'A tenant, with all its quotas',
    access: 'platform',
    answers: { 200: tenant },
  },
  patchTenant: {
    route: 'PATCH /v1/tenants/{id}',
    summary: 'Suspend, resume or change a tenant; everywhere within a second',
    access: 'platform',
    audit: {
      action: byState({ suspended: 'tenant.suspended', active: 'tenant.resumed' }, 'tenant.changed'),
      target: '{id}',
    },
    body: tenantPatch,
    answers: { 200: tenant },
    problems: ['ALREADY_EXISTS'],
  },
  deleteTenant: {
    route: 'DELETE /v1/tenants/{id}',
    summary: 'Suspend a tenant for good, and erase what it has; its id is never used again',
    access: 'platform',
    audit: { action: 'tenant.suspended', target: '{id}' },
    answers: { 202: tenant },
  },
});

function isOrigin(text: string): boolean {
  return !text.includes(',') && text.trim() !== '' && parseAllowedOrigins(text).problems.length === 0;
}
