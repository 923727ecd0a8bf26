/**
 * Owns: the answer to a `user_choice`, POSTed to its `response_url`.
 * Not here: which user chose, the range of the index (only the choice knows it), retries.
 *
 * 1. An answer is sent for one question only and never kept for another. RAP user-choice, Security. R94
 */
import { z } from 'zod';
import { choicesMax } from './limits.ts';
import { foreignIdField, idField } from './field.ts';
import { describeIssue, type Refusal, refusalOf } from './problem.ts';

/** RAP user-choice, Response Fields: the id of the call, the index of the option. R91 */
export const choiceAnswerSchema = z.strictObject({
  id: idField,
  selected: z
    .int()
    .min(0)
    .max(choicesMax - 1),
});

/** The id was made by a runtime and may have any length. */
const inboundSchema = choiceAnswerSchema.extend({ id: foreignIdField }).strip();

/** Option number `selected`, counted from 0, for call `id`. */
export type ChoiceAnswer = z.infer<typeof choiceAnswerSchema>;

/** The JSON body for `response_url`. @throws z.ZodError if the index cannot be one: a bug of the runtime. */
export function encodeChoiceAnswer(answer: ChoiceAnswer): ChoiceAnswer {
  return choiceAnswerSchema.parse(answer);
}

/** Parses an answer as a tool server receives it; unknown fields are ignored. */
export function parseChoiceAnswer(json: unknown): { readonly ok: true; readonly answer: ChoiceAnswer } | Refusal {
  const parsed = inboundSchema.safeParse(json, { error: describeIssue });
  return parsed.success ? { ok: true, answer: parsed.data } : refusalOf(parsed.error);
}
