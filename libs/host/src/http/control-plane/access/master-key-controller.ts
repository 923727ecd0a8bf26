import { Controller, Inject } from '@nestjs/common';
import type { MasterKeys } from '../../../platform/master-keys.ts';
import { type Call, Operate, OperationCall } from '../../data-plane/call.ts';
import { type Reply, reply } from '../../data-plane/reply.ts';
import { HttpProblem } from '../../problems/problem.ts';
import { MASTER_KEYS } from '../tokens.ts';

@Controller()
export class MasterKeyController {
  constructor(@Inject(MASTER_KEYS) private readonly masterKeys: MasterKeys | null) {}

  @Operate('resealSecrets')
  async reseal(@OperationCall() _: Call<'resealSecrets'>): Promise<Reply> {
    if (this.masterKeys === null) throw new HttpProblem('NOT_FOUND', 'This process has no master key.');
    return reply(200, await this.masterKeys.reseal());
  }
}
