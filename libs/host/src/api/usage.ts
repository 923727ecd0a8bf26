// Usage: requests, answers and operations.
import { z } from 'zod';
import { limitOf, time } from './field.ts';
import { operationsOf, readerOfAll } from './operation.ts';

const moment = z
  .union([time, z.iso.date()])
  .transform((text) => Date.parse(text))
  .optional();

const counts = {
  input_tokens: z.int(),
  output_tokens: z.int(),
  completions: z.int(),
  tool_calls: z.int(),
  active_ms: z.number().meta({ description: 'Time with a completion or an open call, waiting excluded.' }),
  waiting_ms: z.number().meta({ description: 'Time with open calls only.' }),
  cached_tokens: z.int().nullable().meta({ description: 'Null: not counted yet, as the next three.' }),
  cache_write_tokens: z.int().nullable(),
  reasoning_tokens: z.int().nullable(),
  cost_micros: z.int().nullable(),
};

export const usageReport = z
  .object({
    from: time,
    to: time,
    data: z.array(z.object({ key: z.string(), ...counts })),
    total: z.object(counts),
    next_cursor: z.string().nullable(),
  })
  .meta({
    id: 'UsageReport',
    description: '`key` is an agent’s name, a date or a thread’s id; `total` is of the whole range.',
  });

export const usageOperations = operationsOf('operations', {
  getUsage: {
    route: 'GET /v1/usage',
    summary: 'Tokens, completions, calls and time by agent, day (UTC) or thread; whole days, 400 at most',
    access: readerOfAll,
    query: z.strictObject({
      from: moment,
      to: moment,
      group_by: z.enum(['agent', 'day', 'thread']).default('day'),
      limit: limitOf(200, 1_000),
      cursor: z.string().max(2_000).optional(),
    }),
    answers: { 200: usageReport },
  },
});
