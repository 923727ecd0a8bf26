// Threads that are parked because of a poisoned input.
import { z } from 'zod';
import { listOf, listQuery, nullableTime, time } from './field.ts';
import { admin, adminOfAll, operationsOf } from './operation.ts';

const parkedFields = {
  thread_id: z.string(),
  state: z.enum(['parked', 'replay']),
  reason: z.string(),
  parked_at: time,
};

export const parkedThread = z.object(parkedFields).meta({ id: 'ParkedThread' });

export const parkedInput = z
  .object({ id: z.string(), kind: z.string(), dropped_at: nullableTime })
  .meta({ id: 'ParkedInput', description: 'Something that was sent to a parked thread and waits.' });

export const parkedDetails = z.object({ ...parkedFields, inputs: z.array(parkedInput) }).meta({ id: 'ParkedDetails' });

export const parkedDrop = z
  .strictObject({ input: z.string().min(1).max(2_000) })
  .meta({ id: 'ParkedDrop', description: 'The id of an input, as the parked thread shows it.' });

export const parkedOperations = operationsOf('operations', {
  listParked: {
    route: 'GET /v1/parked',
    summary: 'Threads that an input has poisoned, oldest first',
    access: adminOfAll,
    query: listQuery,
    answers: { 200: listOf(parkedThread) },
  },
  getParked: {
    route: 'GET /v1/parked/{thread}',
    summary: 'A parked thread, and what waits for it in order',
    access: admin,
    answers: { 200: parkedDetails },
  },
  replayParked: {
    route: 'POST /v1/parked/{thread}/replay',
    summary: 'Let it go on: what waits first, in order, then what is new',
    access: admin,
    audit: { action: 'parked.replayed', target: '{thread}' },
    answers: { 202: parkedThread },
  },
  dropParked: {
    route: 'POST /v1/parked/{thread}/drop',
    summary: 'Leave one input out of every replay; it stays to be seen',
    access: admin,
    audit: { action: 'parked.dropped', target: '{thread}' },
    body: parkedDrop,
    answers: { 200: parkedInput },
  },
});
