import type { UsageTotals } from '@dormouse/ports';
import type { Ingress } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { pageOf } from '../../api/field.ts';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { type Reply, reply } from '../data-plane/reply.ts';
import { unwrap } from '../problems/problem.ts';
import { INGRESS } from './tokens.ts';

@Controller()
export class UsageController {
  constructor(@Inject(INGRESS) private readonly ingress: Ingress) {}

  @Operate('getUsage')
  async read(@OperationCall() { tenant, query }: Call<'getUsage'>): Promise<Reply> {
    const { from, to, group_by: groupBy } = query;
    const report = unwrap(await this.ingress.usage.read(tenant, { from, to, groupBy }, pageOf(query)));
    return reply(200, { ...report, data: report.data.map(whole), total: whole(report.total) });
  }
}

/** With the members that no model here counts yet. */
const whole = <Counted extends UsageTotals>(counted: Counted): object => ({
  ...counted,
  ...{ cachedTokens: null, cacheWriteTokens: null, reasoningTokens: null, costMicros: null },
});
