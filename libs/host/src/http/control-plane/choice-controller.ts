import type { Ingress, RequestOrigin } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { pageOf } from '../../api/field.ts';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { type Reply, reply } from '../data-plane/reply.ts';
import { type Caller, mayOpen } from '../door/caller.ts';
import { problemOfRefusal, unwrap } from '../problems/problem.ts';
import { credentialOf, givenAnswer } from './given-answer.ts';
import { INGRESS } from './tokens.ts';

type Decision = Call<'decideBatch'>['body']['decisions'][number];

interface Outcome {
  readonly id: string;
  readonly status: number;
  readonly code?: string;
}

@Controller()
export class ChoiceController {
  constructor(@Inject(INGRESS) private readonly ingress: Ingress) {}

  @Operate('listInbox')
  async list(@OperationCall() { tenant, caller, query }: Call<'listInbox'>): Promise<Reply> {
    const { limit: _, cursor: __, ...wanted } = query;
    const filter = { ...wanted, ...(caller.agents && { agents: caller.agents }) };
    return reply(200, await this.ingress.inbox.list(tenant, filter, pageOf(query)));
  }

  @Operate('answerInboxChoice')
  async answer(
    @OperationCall() { tenant, params, body, origin, caller, bytes }: Call<'answerInboxChoice'>,
  ): Promise<Reply> {
    const answer = givenAnswer(body, caller, bytes);
    await mayOpen(this.ingress, caller, unwrap(await this.ingress.inbox.threadOf(tenant, params.chc)));
    return reply(202, unwrap(await this.ingress.inbox.answer(tenant, params.chc, answer, origin)));
  }

  @Operate('assignChoice')
  async assign(@OperationCall() { tenant, params, body, origin, caller }: Call<'assignChoice'>): Promise<Reply> {
    await mayOpen(this.ingress, caller, unwrap(await this.ingress.inbox.threadOf(tenant, params.chc)));
    const assigned = { assignees: body.assignees, by: caller.name };
    return reply(200, unwrap(await this.ingress.inbox.assign(tenant, params.chc, assigned, origin)));
  }

  @Operate('decideBatch')
  async batch(@OperationCall() { body, origin, caller }: Call<'decideBatch'>): Promise<Reply> {
    const entries = body.decisions.map((decision, place) => ({ ...decision, place }));
    const outcomes: Outcome[] = [];
    // Decisions about one choice are made in their order, those about others beside them.
    const ofEach = [...Map.groupBy(entries, ({ id }) => id).values()].map(async (same) => {
      for (const entry of same) outcomes[entry.place] = await this.decided(entry, originOf(origin, entry), caller);
    });
    await Promise.all(ofEach);
    return reply(200, { data: outcomes });
  }

  private async decided({ id, decision, reason }: Decision, origin: RequestOrigin, caller: Caller): Promise<Outcome> {
    const said = { answer: { answer: 'decision', decision }, reason, decidedBy: caller.name } as const;
    const answer = { ...said, by: caller.by, credential: credentialOf(caller) };
    if (!(await this.isSeen(caller, id))) return { id, status: 404, code: 'NOT_FOUND' };
    const outcome = await this.ingress.inbox.answer(origin.tenant, id, answer, origin);
    if (outcome.ok) return { id, status: 202 };
    const { status, code } = problemOfRefusal(outcome.refusal);
    return { id, status, code };
  }

  /** A key for some agents decides choices of their threads only. (caller K9) */
  private async isSeen({ tenant, agents }: Caller, id: string): Promise<boolean> {
    if (agents === null) return true;
    const found = await this.ingress.inbox.threadOf(tenant, id);
    const agent = found.ok ? await this.ingress.agentOf({ tenant, thread: found.value }) : null;
    return agent !== null && agents.includes(agent);
  }
}

/** Each decision is a request of its own: with the key of the batch, always the same one. */
const originOf = (
  origin: RequestOrigin,
  { id, place }: { readonly id: string; readonly place: number },
): RequestOrigin => ({
  ...origin,
  path: `${origin.path}/${place}/${id}`,
});
