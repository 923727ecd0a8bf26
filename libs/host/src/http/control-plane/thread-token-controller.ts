import type { Ingress } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { threadTokenOperations } from '../../api/thread-tokens.ts';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { noContent, type Reply, reply } from '../data-plane/reply.ts';
import { unwrap } from '../problems/problem.ts';
import { INGRESS } from './tokens.ts';

type Operations = typeof threadTokenOperations;

@Controller()
export class ThreadTokenController {
  private readonly ingress: Ingress;

  constructor(@Inject(INGRESS) ingress: Ingress) {
    this.ingress = ingress;
  }

  @Operate(threadTokenOperations.issueThreadToken)
  async issue(@OperationCall() { tenant, params, body }: Call<Operations['issueThreadToken']>): Promise<Reply> {
    const { can, scope, user_id: userId, ttl_s: ttlS } = body;
    const key = { tenant, thread: params.id };
    return reply(201, unwrap(await this.ingress.tokens.issue(key, { can, scope, userId, ttlS })));
  }

  @Operate(threadTokenOperations.revokeThreadToken)
  async revoke(@OperationCall() { tenant, params }: Call<Operations['revokeThreadToken']>): Promise<Reply> {
    unwrap(await this.ingress.tokens.revoke({ tenant, thread: params.id }, params.token));
    return noContent;
  }
}
