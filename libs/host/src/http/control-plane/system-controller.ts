import type { IncomingHttpHeaders } from 'node:http';
import type { Ingress } from '@dormouse/runtime';
import { Controller, Headers, Inject } from '@nestjs/common';
import { pageOf } from '../../api/field.ts';
import { systemOperations } from '../../api/operations.ts';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { isFromHere } from '../door/caller.ts';
import { HttpProblem, unwrap } from '../problems/problem.ts';
import { noContent, type Reply, reply } from '../data-plane/reply.ts';
import { DEV_CLOCK, INGRESS } from './tokens.ts';
import type { ProcessClock } from '../../platform/process-clock.ts';

type Operations = typeof systemOperations;

@Controller()
export class SystemController {
  private readonly ingress: Ingress;
  private readonly devClock: ProcessClock | null;

  constructor(@Inject(INGRESS) ingress: Ingress, @Inject(DEV_CLOCK) devClock: ProcessClock | null) {
    this.ingress = ingress;
    this.devClock = devClock;
  }

  @Operate(systemOperations.createApiKey)
  async createApiKey(@OperationCall() { tenant, body }: Call<Operations['createApiKey']>): Promise<Reply> {
    const { name, scopes, expires_at: expiresAt } = body;
    const wanted = { name, scopes, expiresAt: expiresAt === null ? null : Date.parse(expiresAt) };
    return reply(201, await this.ingress.keys.create(tenant, wanted));
  }

  @Operate(systemOperations.listApiKeys)
  async listApiKeys(@OperationCall() { tenant, query }: Call<Operations['listApiKeys']>): Promise<Reply> {
    return reply(200, await this.ingress.keys.list(tenant, pageOf(query)));
  }

  @Operate(systemOperations.revokeApiKey)
  async revokeApiKey(@OperationCall() { tenant, params }: Call<Operations['revokeApiKey']>): Promise<Reply> {
    unwrap(await this.ingress.keys.revoke(tenant, params.id));
    return noContent;
  }

  @Operate(systemOperations.advanceClock)
  async advanceClock(
    @OperationCall() { body }: Call<Operations['advanceClock']>,
    @Headers() headers: IncomingHttpHeaders,
  ): Promise<Reply> {
    if (this.devClock === null || !isFromHere(headers))
      throw new HttpProblem('NOT_FOUND', 'There is no development clock here.');
    await this.devClock.advance(body.advance_ms);
    return reply(200, { now: new Date(this.devClock.now()).toISOString() });
  }
}
