import type { Ingress } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { pageOf } from '../../api/field.ts';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { unwrap } from '../problems/problem.ts';
import { type Reply, reply } from '../data-plane/reply.ts';
import { INGRESS } from './tokens.ts';

@Controller()
export class ParkedController {
  constructor(@Inject(INGRESS) private readonly ingress: Ingress) {}

  @Operate('listParked')
  async list(@OperationCall() { tenant, query }: Call<'listParked'>): Promise<Reply> {
    return reply(200, await this.ingress.parked.list(tenant, pageOf(query)));
  }

  @Operate('getParked')
  async show(@OperationCall() { tenant, params }: Call<'getParked'>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.parked.show({ tenant, thread: params.thread })));
  }

  @Operate('replayParked')
  async replay(@OperationCall() { tenant, params }: Call<'replayParked'>): Promise<Reply> {
    return reply(202, unwrap(await this.ingress.parked.replay({ tenant, thread: params.thread })));
  }

  @Operate('reconcile')
  async reconcile(@OperationCall() { tenant, body }: Call<'reconcile'>): Promise<Reply> {
    const { pay, older_than_ms: olderThanMs, limit, cursor } = body;
    return reply(200, await this.ingress.reconcile.page(tenant, { pay, olderThanMs }, { limit, cursor }));
  }

  @Operate('dropParked')
  async drop(@OperationCall() { tenant, params, body }: Call<'dropParked'>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.parked.drop({ tenant, thread: params.thread }, body.input)));
  }
}
