// The audit: requests, answers and operations.
import { z } from 'zod';
import { listOf, listOrder, listQuery, time } from './field.ts';
import { adminOfAll, operationsOf } from './operation.ts';

const moment = time.transform((text) => Date.parse(text)).optional();

export const auditRow = z
  .object({
    seq: z.int().describe('From 1 in each tenant, without a gap.'),
    at: time,
    actor: z.string().describe('A key’s id, `user:` and a user’s id, `platform`, or a part of the runtime.'),
    action: z.string(),
    target: z.string().nullable().describe('The id or name of what was acted on.'),
    from: z.string().nullable().describe('The address of the client.'),
    outcome: z.string(),
    request_id: z.string().nullable(),
    prev: z.string().describe('`hash` of the row before; 64 zeros in the first.'),
    hash: z.string().describe('SHA-256 of the RFC 8785 JSON of the other members; hexadecimal.'),
  })
  .meta({ id: 'AuditRow', description: 'Who did what. Rows are never changed.' });

export const auditKeys = z
  .object({ keys: z.array(z.record(z.string(), z.string())) })
  .meta({ id: 'AuditKeys', description: 'A JSON Web Key Set: the public keys that sign roots of exports.' });

export const auditOperations = operationsOf('operations', {
  listAudit: {
    route: 'GET /v1/audit',
    summary: 'Who did what, oldest first or newest first',
    access: adminOfAll,
    query: z.strictObject({
      actor: z.string().max(1_000).optional(),
      action: z.string().max(100).optional(),
      from: moment,
      to: moment,
      order: listOrder.default('asc'),
      ...listQuery.shape,
    }),
    answers: { 200: listOf(auditRow) },
  },
  exportAudit: {
    route: 'GET /v1/audit/export',
    summary: 'Every row as a line of JSON, then the signed root: what `dormouse audit verify` checks offline',
    access: adminOfAll,
    audit: { action: 'audit.exported' },
    answers: { 200: 'application/x-ndjson' },
  },
  getAuditKeys: {
    route: 'GET /v1/audit/keys',
    summary: 'The public keys that sign exports',
    access: adminOfAll,
    answers: { 200: auditKeys },
  },
});
