import type { Ingress } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { auditOperations } from '../../api/audit.ts';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { type Reply, replyAsIs, replyLines } from '../data-plane/reply.ts';
import { INGRESS } from './tokens.ts';

type Operations = typeof auditOperations;

@Controller()
export class AuditController {
  constructor(@Inject(INGRESS) private readonly ingress: Pick<Ingress, 'audit'>) {}

  @Operate(auditOperations.listAudit)
  async list(@OperationCall() { tenant, query }: Call<Operations['listAudit']>): Promise<Reply> {
    const { actor, action, from, to, order, limit, cursor = null } = query;
    const page = await this.ingress.audit.list(tenant, { actor, action, from, to }, { order, limit, cursor });
    return replyAsIs(200, { data: page.data, next_cursor: page.nextCursor });
  }

  @Operate(auditOperations.exportAudit)
  export(@OperationCall() { tenant }: Call<Operations['exportAudit']>): Reply {
    return replyLines(this.ingress.audit.export(tenant));
  }

  @Operate(auditOperations.getAuditKeys)
  keys(@OperationCall() _call: Call<Operations['getAuditKeys']>): Reply {
    return replyAsIs(200, this.ingress.audit.keys);
  }
}
