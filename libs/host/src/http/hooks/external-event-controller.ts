import type { Ingress } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { externalEventOperations } from '../../api/hooks/external-events.ts';
import { INGRESS } from '../control-plane/tokens.ts';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { type Reply, reply } from '../data-plane/reply.ts';
import { unwrap } from '../problems/problem.ts';

type Operations = typeof externalEventOperations;

@Controller()
export class ExternalEventController {
  constructor(@Inject(INGRESS) private readonly ingress: Ingress) {}

  @Operate(externalEventOperations.postEvent)
  async post(@OperationCall() { tenant, params, body, origin }: Call<Operations['postEvent']>): Promise<Reply> {
    const event = { ...body, id: body.id ?? null };
    return reply(202, unwrap(await this.ingress.externalEvents.post({ tenant, thread: params.id }, event, origin)));
  }
}
