import type { Ingress } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { INGRESS } from '../control-plane/tokens.ts';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { type Reply, reply } from '../data-plane/reply.ts';
import { unwrap } from '../problems/problem.ts';

@Controller()
export class ExternalEventController {
  constructor(@Inject(INGRESS) private readonly ingress: Ingress) {}

  @Operate('postEvent')
  async post(@OperationCall() { tenant, params, body, origin }: Call<'postEvent'>): Promise<Reply> {
    const event = { ...body, id: body.id ?? null };
    return reply(202, unwrap(await this.ingress.externalEvents.post({ tenant, thread: params.id }, event, origin)));
  }
}
