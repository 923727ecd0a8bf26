import type { Ingress } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { pageOf } from '../../api/field.ts';
import { sourceOperations } from '../../api/hooks/sources.ts';
import { INGRESS } from '../control-plane/tokens.ts';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { noContent, type Reply, reply } from '../data-plane/reply.ts';
import { unwrap } from '../problems/problem.ts';

type Operations = typeof sourceOperations;

@Controller()
export class SourceController {
  constructor(@Inject(INGRESS) private readonly ingress: Ingress) {}

  @Operate(sourceOperations.createSource)
  async create(@OperationCall() { tenant, body }: Call<Operations['createSource']>): Promise<Reply> {
    const { source, created } = unwrap(await this.ingress.sources.create(tenant, body));
    return reply(created ? 201 : 200, source);
  }

  @Operate(sourceOperations.listSources)
  async list(@OperationCall() { tenant, query }: Call<Operations['listSources']>): Promise<Reply> {
    return reply(200, await this.ingress.sources.list(tenant, pageOf(query)));
  }

  @Operate(sourceOperations.deleteSource)
  async remove(@OperationCall() { tenant, params }: Call<Operations['deleteSource']>): Promise<Reply> {
    unwrap(await this.ingress.sources.remove(tenant, params.name));
    return noContent;
  }
}
