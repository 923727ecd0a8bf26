import { apiCodec, type Ingress } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { noContent, type Reply, reply } from '../data-plane/reply.ts';
import { unwrap } from '../problems/problem.ts';
import { INGRESS } from './tokens.ts';

@Controller()
export class ThreadTokenController {
  constructor(@Inject(INGRESS) private readonly ingress: Ingress) {}

  @Operate('issueThreadToken')
  async issue(@OperationCall() { tenant, params, body }: Call<'issueThreadToken'>): Promise<Reply> {
    const wanted = apiCodec.toCode(body);
    return reply(201, unwrap(await this.ingress.tokens.issue({ tenant, thread: params.id }, wanted)));
  }

  @Operate('revokeThreadToken')
  async revoke(@OperationCall() { tenant, params }: Call<'revokeThreadToken'>): Promise<Reply> {
    unwrap(await this.ingress.tokens.revoke({ tenant, thread: params.id }, params.token));
    return noContent;
  }
}
