import type { Draft } from '../draft.ts';
import { threadLimits } from '../policy.ts';
import type { Call } from '../thread.ts';
import { type AfterAnswer, answer, type BuiltInTool, fail, schemaOf } from './built-in-tool.ts';

export const sleep: BuiltInTool = {
  name: 'sleep',
  description: 'Ends the turn. The thread is woken after this time, or earlier when something else happens.',
  inputSchema: schemaOf({ seconds: { type: 'number', exclusiveMinimum: 0, description: 'How long.' } }),
  childrenOnly: false,
  run: (draft, call) => sleepThrough(draft, call, draft.moment.now + Number(call.arguments['seconds']) * 1_000),
};

/** Answers the call with a sleep that ends at `until`, milliseconds since the epoch. */
export function sleepThrough(draft: Draft, call: Call, until: number): AfterAnswer | null {
  const { now } = draft.moment;
  if (Number.isNaN(until)) return fail(draft, call, 'at is not a time like 2027-01-31T08:00:00Z, with its offset');
  if (until <= now) return fail(draft, call, 'the time must lie in the future');
  if (until - now > threadLimits.sleepMsMax) return fail(draft, call, 'five years is the longest sleep');
  answer(draft, call, `Timer set for ${new Date(until).toISOString()}.`);
  return { wish: 'sleep', until };
}
