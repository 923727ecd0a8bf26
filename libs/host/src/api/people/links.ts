// Links with which people without a key answer approvals.
import { answerLinkTtlSMax } from '@dormouse/runtime';
import { z } from 'zod';
import { id, time } from '../field.ts';
import { operationsOf } from '../operation.ts';

export const linkRequest = z
  .strictObject({
    for: id,
    ttl_s: z.int().min(1).max(answerLinkTtlSMax).default(86_400),
    can: z
      .array(z.enum(['allow', 'deny']))
      .min(1)
      .max(2)
      .refine((answers) => new Set(answers).size === answers.length, 'names an answer twice')
      .default(['allow', 'deny']),
  })
  .meta({ id: 'LinkRequest', description: 'What the link allows, for whom, and for how long.' });

const answerLink = z
  .object({ id: z.string(), url: z.string(), expires_at: time })
  .meta({ id: 'AnswerLink', description: 'The address of a page with the question, which is shown this once.' });

export const linkOperations = operationsOf('choices', {
  createAnswerLink: {
    route: 'POST /v1/choices/{chc}/links',
    summary: 'A link with which a person without a key answers this approval, once',
    access: { scope: 'approvals:write', ability: null },
    audit: { action: 'link.created', target: '{{id}}' },
    body: linkRequest,
    answers: { 201: answerLink },
    answersSecret: true,
    problems: ['CHOICE_SETTLED'],
  },
});
