import type { Ingress } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { pageOf } from '../../../api/field.ts';
import { type Call, Operate, OperationCall } from '../../data-plane/call.ts';
import { type Reply, reply } from '../../data-plane/reply.ts';
import { unwrap } from '../../problems/problem.ts';
import { INGRESS } from '../tokens.ts';

@Controller()
export class ErasureController {
  constructor(@Inject(INGRESS) private readonly ingress: Pick<Ingress, 'erasures'>) {}

  @Operate('createErasure')
  async create(@OperationCall() { tenant, body }: Call<'createErasure'>): Promise<Reply> {
    const target = 'thread_id' in body ? { threadId: body.thread_id } : { userId: body.user_id };
    return reply(202, unwrap(await this.ingress.erasures.request(tenant, target)));
  }

  @Operate('deleteThread')
  async removeThread(@OperationCall() { tenant, params }: Call<'deleteThread'>): Promise<Reply> {
    return reply(202, unwrap(await this.ingress.erasures.remove(tenant, params.id)));
  }

  @Operate('listErasures')
  async list(@OperationCall() { tenant, query }: Call<'listErasures'>): Promise<Reply> {
    return reply(200, await this.ingress.erasures.list(tenant, pageOf(query)));
  }

  @Operate('getErasure')
  async get(@OperationCall() { tenant, params }: Call<'getErasure'>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.erasures.get(tenant, params.id)));
  }
}
