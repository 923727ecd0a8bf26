// The inbox: what waits for people over all threads of the tenant, and their answers.
import { z } from 'zod';
import { accepted, assignees, id, listOf, listQuery, time } from './field.ts';
import { answerer, operationsOf, reader } from './operation.ts';
import { choice, choiceAnswer } from './thread-details.ts';

export const inboxQuery = z.strictObject({
  status: z.enum(['open', 'settled']).default('open'),
  kind: z.enum(['tool', 'approval', 'oauth']).optional(),
  agent: z.string().min(1).max(200).optional(),
  thread: id.optional(),
  assignee: id.optional(),
  ...listQuery.shape,
});

export const inboxRow = choice
  .extend({
    kind: z.enum(['tool', 'approval', 'oauth']),
    thread_id: z.string(),
    agent: z.string(),
    operation: z.string(),
    tool_server: z.string().nullable(),
    since: time,
    settled_at: time.optional(),
    decision: z.string().optional(),
    selected: z.int().optional(),
    by: z.string().optional(),
    reason: z.string().optional(),
  })
  .meta({
    id: 'InboxRow',
    description:
      'A choice, an approval or a login, with its thread. A login has no choices, and no URL: its thread’s stream does.',
  });

export const decisionBatch = z
  .strictObject({
    decisions: z
      .array(
        z.strictObject({
          id,
          decision: z.enum(['allow', 'deny', 'allow_for_thread']),
          reason: z.string().max(2_000).nullable().default(null),
        }),
      )
      .min(1)
      .max(100),
  })
  .meta({
    id: 'DecisionBatch',
    description: 'Approvals, each decided on its own; a malformed entry decides none of them.',
  });

export const assignment = z
  .strictObject({ assignees })
  .meta({ id: 'Assignment', description: 'The people whose task a choice is from now on; none for an empty list.' });

export const choiceOperations = operationsOf('choices', {
  listInbox: {
    route: 'GET /v1/choices',
    summary: 'What waits for people in all threads, oldest first; with `status=settled` what did, latest first',
    access: reader,
    query: inboxQuery,
    answers: { 200: listOf(inboxRow) },
  },
  answerInboxChoice: {
    route: 'POST /v1/choices/{chc}',
    summary: 'Decide; the first answer stays',
    access: { ...answerer, thread: 'found_later' },
    body: choiceAnswer,
    answers: { 202: accepted },
    problems: ['CHOICE_SETTLED', 'CHOICE_CHANGED', 'APPROVAL_COUNTED'],
  },
  assignChoice: {
    route: 'PATCH /v1/choices/{chc}',
    summary: 'Say whose task it is',
    access: { scope: 'approvals:write', ability: null },
    audit: { action: 'choice.assigned', target: '{chc}' },
    body: assignment,
    answers: { 200: inboxRow },
    problems: ['CHOICE_SETTLED'],
  },
  decideBatch: {
    route: 'POST /v1/choices:batch',
    summary: 'Decide several approvals; `status` of each outcome is the one that its own request would have had',
    access: { scope: 'approvals:write', ability: null },
    body: decisionBatch,
    answers: {
      200: z
        .object({ data: z.array(z.object({ id: z.string(), status: z.int(), code: z.string().optional() })) })
        .meta({ id: 'DecisionOutcomes' }),
    },
  },
});
