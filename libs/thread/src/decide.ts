import type { Decision } from './decision.ts';
import type { ThreadInput } from './input.ts';
import type { Moment } from './moment.ts';
import type { Thread } from './thread.ts';

export function decide(thread: Thread, input: ThreadInput, moment: Moment): Decision {
  throw new Error(`not yet: ${thread.id} ${input.kind} ${moment.now}`);
}
