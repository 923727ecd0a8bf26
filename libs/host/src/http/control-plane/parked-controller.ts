import type { Ingress } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { pageOf } from '../../api/field.ts';
import { parkedOperations } from '../../api/parked.ts';
import { reconcileOperations } from '../../api/reconcile.ts';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { unwrap } from '../problems/problem.ts';
import { type Reply, reply } from '../data-plane/reply.ts';
import { INGRESS } from './tokens.ts';

type Operations = typeof parkedOperations;

@Controller()
export class ParkedController {
  constructor(@Inject(INGRESS) private readonly ingress: Ingress) {}

  @Operate(parkedOperations.listParked)
  async list(@OperationCall() { tenant, query }: Call<Operations['listParked']>): Promise<Reply> {
    return reply(200, await this.ingress.parked.list(tenant, pageOf(query)));
  }

  @Operate(parkedOperations.getParked)
  async show(@OperationCall() { tenant, params }: Call<Operations['getParked']>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.parked.show({ tenant, thread: params.thread })));
  }

  @Operate(parkedOperations.replayParked)
  async replay(@OperationCall() { tenant, params }: Call<Operations['replayParked']>): Promise<Reply> {
    return reply(202, unwrap(await this.ingress.parked.replay({ tenant, thread: params.thread })));
  }

  @Operate(reconcileOperations.reconcile)
  async reconcile(@OperationCall() { tenant, body }: Call<(typeof reconcileOperations)['reconcile']>): Promise<Reply> {
    const { pay, older_than_ms: olderThanMs, limit, cursor } = body;
    return reply(200, await this.ingress.reconcile.page(tenant, { pay, olderThanMs }, { limit, cursor }));
  }

  @Operate(parkedOperations.dropParked)
  async drop(@OperationCall() { tenant, params, body }: Call<Operations['dropParked']>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.parked.drop({ tenant, thread: params.thread }, body.input)));
  }
}
