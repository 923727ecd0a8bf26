import type { Ingress } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { erasureOperations } from '../../../api/access/erasures.ts';
import { pageOf } from '../../../api/field.ts';
import { type Call, Operate, OperationCall } from '../../data-plane/call.ts';
import { type Reply, reply } from '../../data-plane/reply.ts';
import { unwrap } from '../../problems/problem.ts';
import { INGRESS } from '../tokens.ts';

type Operations = typeof erasureOperations;

@Controller()
export class ErasureController {
  constructor(@Inject(INGRESS) private readonly ingress: Pick<Ingress, 'erasures'>) {}

  @Operate(erasureOperations.createErasure)
  async create(@OperationCall() { tenant, body }: Call<Operations['createErasure']>): Promise<Reply> {
    const target = 'thread_id' in body ? { threadId: body.thread_id } : { userId: body.user_id };
    return reply(202, unwrap(await this.ingress.erasures.request(tenant, target)));
  }

  @Operate(erasureOperations.deleteThread)
  async removeThread(@OperationCall() { tenant, params }: Call<Operations['deleteThread']>): Promise<Reply> {
    return reply(202, unwrap(await this.ingress.erasures.remove(tenant, params.id)));
  }

  @Operate(erasureOperations.listErasures)
  async list(@OperationCall() { tenant, query }: Call<Operations['listErasures']>): Promise<Reply> {
    return reply(200, await this.ingress.erasures.list(tenant, pageOf(query)));
  }

  @Operate(erasureOperations.getErasure)
  async get(@OperationCall() { tenant, params }: Call<Operations['getErasure']>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.erasures.get(tenant, params.id)));
  }
}
