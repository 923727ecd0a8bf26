import type { Ingress } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { type Reply, replyAsIs, replyLines } from '../data-plane/reply.ts';
import { INGRESS } from './tokens.ts';

@Controller()
export class AuditController {
  constructor(@Inject(INGRESS) private readonly ingress: Pick<Ingress, 'audit'>) {}

  @Operate('listAudit')
  async list(@OperationCall() { tenant, query }: Call<'listAudit'>): Promise<Reply> {
    const { actor, action, from, to, order, limit, cursor = null } = query;
    const page = await this.ingress.audit.list(tenant, { actor, action, from, to }, { order, limit, cursor });
    return replyAsIs(200, { data: page.data, next_cursor: page.nextCursor });
  }

  @Operate('exportAudit')
  export(@OperationCall() { tenant }: Call<'exportAudit'>): Reply {
    return replyLines(this.ingress.audit.export(tenant));
  }

  @Operate('getAuditKeys')
  keys(@OperationCall() _call: Call<'getAuditKeys'>): Reply {
    return replyAsIs(200, this.ingress.audit.keys);
  }
}
