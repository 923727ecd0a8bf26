import type { ModelCatalog } from '@dormouse/adapter-model';
import { Controller, Inject } from '@nestjs/common';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { type Reply, reply } from '../data-plane/reply.ts';
import { MODELS } from './tokens.ts';

@Controller()
export class ModelController {
  constructor(@Inject(MODELS) private readonly models: ModelCatalog) {}

  @Operate('listModels')
  async list(@OperationCall() { tenant }: Call<'listModels'>): Promise<Reply> {
    return reply(200, { data: await this.models.list(tenant) });
  }
}
