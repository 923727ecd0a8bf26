import { type BuiltInTool, schemaOf, word, words } from './built-in-tool.ts';
import { sleepThrough } from './sleep.ts';

export const sleepUntil: BuiltInTool = {
  name: 'sleep_until',
  description: 'Ends the turn. The thread is woken at this time, or earlier when something else happens.',
  inputSchema: schemaOf({ at: words('RFC 3339 with offset, for example 2027-01-31T08:00:00Z.') }),
  childrenOnly: false,
  run: (draft, call) => sleepThrough(draft, call, instantOf(word(call, 'at'))),
};

/** An offset is required: a local time would mean another moment on another machine. */
function instantOf(at: string): number {
  return /(?:Z|[+-]\d\d:?\d\d)$/i.test(at) ? Date.parse(at) : Number.NaN;
}
