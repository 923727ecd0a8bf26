import type { Clock } from '@dormouse/ports';
import type { Ingress } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { threadDetailOperations } from '../api/thread-details.ts';
import { type Call, Operate, OperationCall } from '../http/call.ts';
import { HttpProblem, unwrap } from '../http/problem.ts';
import { type Reply, reply, replyAsIs, replyBytes } from '../http/reply.ts';
import { CLOCK, INGRESS } from '../http/tokens.ts';

type Operations = typeof threadDetailOperations;

@Controller()
export class ThreadDetailController {
  private readonly ingress: Ingress;
  private readonly clock: Clock;

  constructor(@Inject(INGRESS) ingress: Ingress, @Inject(CLOCK) clock: Clock) {
    this.ingress = ingress;
    this.clock = clock;
  }

  @Operate(threadDetailOperations.commits)
  async commits(@OperationCall() { tenant, params, query }: Call<Operations['commits']>): Promise<Reply> {
    const page = unwrap(
      await this.ingress.events.commits({ tenant, thread: params.thread }, query.cursor, query.limit),
    );
    return replyAsIs(200, { data: page.data, next_cursor: page.nextCursor }); // the hash covers these very fields
  }

  @Operate(threadDetailOperations.toolCalls)
  async toolCalls(@OperationCall() { tenant, params, query }: Call<Operations['toolCalls']>): Promise<Reply> {
    return reply(
      200,
      unwrap(await this.ingress.toolCalls.list({ tenant, thread: params.thread }, query.cursor, query.limit)),
    );
  }

  @Operate(threadDetailOperations.cancelCall)
  async cancelCall(@OperationCall() { tenant, params, origin }: Call<Operations['cancelCall']>): Promise<Reply> {
    const request = { ask: 'cancel_call', toolCallId: params.call } as const;
    return reply(202, unwrap(await this.ingress.requests.post({ tenant, thread: params.thread }, request, origin)));
  }

  @Operate(threadDetailOperations.choices)
  async choices(@OperationCall() { tenant, params }: Call<Operations['choices']>): Promise<Reply> {
    return reply(200, {
      data: unwrap(await this.ingress.choices.list({ tenant, thread: params.thread })),
      nextCursor: null,
    });
  }

  @Operate(threadDetailOperations.answerChoice)
  async answerChoice(
    @OperationCall() { tenant, params, body, origin, caller }: Call<Operations['answerChoice']>,
  ): Promise<Reply> {
    const answer = { decision: body.decision, reason: body.reason, decidedBy: body.decided_by ?? caller.name };
    return reply(
      202,
      unwrap(await this.ingress.choices.answer({ tenant, thread: params.thread }, params.choice, answer, origin)),
    );
  }

  @Operate(threadDetailOperations.blob)
  async blob(@OperationCall() { tenant, params }: Call<Operations['blob']>): Promise<Reply> {
    if (!/^[0-9a-f]{64}$/.test(params.sha256)) throw new HttpProblem('NOT_FOUND', 'There is no such blob.');
    const { bytes, mediaType } = unwrap(await this.ingress.blob({ tenant, thread: params.thread }, params.sha256));
    return replyBytes(bytes, mediaType);
  }

  @Operate(threadDetailOperations.token)
  async token(@OperationCall() { tenant, params, body }: Call<Operations['token']>): Promise<Reply> {
    const key = { tenant, thread: params.thread };
    unwrap(await this.ingress.threads.get(key));
    const token = this.ingress.tokens.issue(key, body.can, body.user_id, body.ttl_s);
    return reply(201, { token, expiresAt: this.clock.now() + body.ttl_s * 1_000 });
  }
}
