import type { Ingress } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { pageOf } from '../../api/field.ts';
import { INGRESS } from '../control-plane/tokens.ts';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { noContent, type Reply, reply } from '../data-plane/reply.ts';
import { unwrap } from '../problems/problem.ts';

@Controller()
export class SourceController {
  constructor(@Inject(INGRESS) private readonly ingress: Ingress) {}

  @Operate('createSource')
  async create(@OperationCall() { tenant, body }: Call<'createSource'>): Promise<Reply> {
    const { source, created } = unwrap(await this.ingress.sources.create(tenant, body));
    return reply(created ? 201 : 200, source);
  }

  @Operate('listSources')
  async list(@OperationCall() { tenant, query }: Call<'listSources'>): Promise<Reply> {
    return reply(200, await this.ingress.sources.list(tenant, pageOf(query)));
  }

  @Operate('deleteSource')
  async remove(@OperationCall() { tenant, params }: Call<'deleteSource'>): Promise<Reply> {
    unwrap(await this.ingress.sources.remove(tenant, params.name));
    return noContent;
  }
}
