import { apiCodec, type Ingress } from '@dormouse/runtime';
import { Controller, Inject, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { INGRESS, PUBLIC_URL } from '../control-plane/tokens.ts';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { type Reply, reply } from '../data-plane/reply.ts';
import { mayOpen } from '../door/caller.ts';
import { unwrap } from '../problems/problem.ts';
import { answerPath } from './link-routes.ts';

@Controller()
export class LinkController {
  constructor(
    @Inject(INGRESS) private readonly ingress: Ingress,
    @Inject(PUBLIC_URL) private readonly publicUrl: string | null,
  ) {}

  @Operate('createAnswerLink')
  async create(
    @OperationCall() { tenant, params, body, origin, caller }: Call<'createAnswerLink'>,
    @Req() { headers }: FastifyRequest,
  ): Promise<Reply> {
    await mayOpen(this.ingress, caller, unwrap(await this.ingress.inbox.threadOf(tenant, params.chc)));
    const wanted = apiCodec.toCode(body);
    const { id, token, expiresAt } = unwrap(await this.ingress.answerLinks.make(tenant, params.chc, wanted, origin));
    const url = `${this.publicUrl ?? `http://${headers.host}`}${answerPath}${token}`; // (caller K3) the host is ours
    return reply(201, { id, url, expiresAt });
  }
}
