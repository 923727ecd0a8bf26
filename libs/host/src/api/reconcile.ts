// What commits owe and nothing answers: request, answer and operation.
import { debtKinds } from '@dormouse/runtime';
import { z } from 'zod';
import { adminOfAll, operationsOf } from './operation.ts';

export const reconcileRequest = z
  .strictObject({
    pay: z.boolean().default(false),
    older_than_ms: z
      .int()
      .min(0)
      .max(3_650 * 86_400_000)
      .default(900_000),
    limit: z.int().min(1).max(200).default(50),
    cursor: z.string().max(2_000).nullable().default(null),
  })
  .meta({ id: 'ReconcileRequest', description: 'Which debts count, and whether they are paid again.' });

const counts = z
  .object(Object.fromEntries(debtKinds.map((kind) => [kind, z.int()])) as Record<(typeof debtKinds)[number], z.ZodInt>)
  .meta({ id: 'DebtCounts', description: 'How many debts of each kind nothing answers.' });

export const reconcilePage = z
  .object({
    threads: z.int(),
    data: z.array(z.object({ thread_id: z.string(), from: z.int(), owed: counts })),
    paid: z.boolean(),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: 'ReconcilePage', description: 'The threads of this page that owe, and how many were looked at.' });

export const reconcileOperations = operationsOf('operations', {
  reconcile: {
    route: 'POST /v1/reconcile',
    summary: 'What commits owe and nothing answers; with `pay` the owners of the threads pay it again',
    access: adminOfAll,
    body: reconcileRequest,
    bodyOptional: true,
    answers: { 200: reconcilePage },
  },
});
