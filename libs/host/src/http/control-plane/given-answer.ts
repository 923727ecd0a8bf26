// The answer to a choice, from the body of a request.
import { inexactNumberOf } from '@dormouse/json';
import type { GivenAnswer } from '@dormouse/runtime';
import type { Answer } from '@dormouse/thread';
import type { z } from 'zod';
import type { choiceAnswer } from '../../api/thread-details.ts';
import type { Caller } from '../door/caller.ts';
import { invalidAt } from '../problems/problem.ts';

type Body = z.output<typeof choiceAnswer>;

/** `bytes`: the body as it came. @throws HttpProblem INVALID_BODY for a number that would reach the tool as another. */
export function givenAnswer(body: Body, caller: Caller, bytes: unknown): GivenAnswer {
  const { name, by } = caller;
  const { reason, decided_by: decidedBy, arguments: edited, arguments_hash: argumentsHash } = body;
  if (edited !== undefined && bytes instanceof Uint8Array) refuseInexact(bytes);
  const said = { answer: answerOf(body), reason, decidedBy: decidedBy ?? name, by, credential: credentialOf(caller) };
  return { ...said, arguments: edited, argumentsHash };
}

/** As approvals are counted: of a token its user. Tokens without a user are one: a key makes as many as it likes. */
export const credentialOf = ({ only, by }: Pick<Caller, 'only' | 'by'>): string =>
  only !== null && only.userId === null ? 'token' : by.actor;

function refuseInexact(bytes: Uint8Array): void {
  if (inexactNumberOf(new TextDecoder().decode(bytes), 'arguments') === null) return;
  const detail = 'has a number that cannot be passed on exactly; send it as a string if the tool takes one';
  throw invalidAt('/arguments', detail, 'The arguments cannot be sent.');
}

/** Exactly one of the three is set. */
function answerOf({ decision, selected }: Body): Answer {
  if (decision !== undefined) return { answer: 'decision', decision };
  return selected === undefined ? { answer: 'dismiss' } : { answer: 'selected', selected };
}
