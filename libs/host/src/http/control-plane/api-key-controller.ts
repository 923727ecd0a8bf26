import { apiCodec, type Ingress } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { msOf, pageOf } from '../../api/field.ts';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { noContent, type Reply, reply } from '../data-plane/reply.ts';
import { unwrap } from '../problems/problem.ts';
import { INGRESS } from './tokens.ts';

@Controller()
export class ApiKeyController {
  constructor(@Inject(INGRESS) private readonly ingress: Ingress) {}

  @Operate('createApiKey')
  async create(@OperationCall() { tenant, caller, body }: Call<'createApiKey'>): Promise<Reply> {
    const wanted = { ...apiCodec.toCode(body), expiresAt: msOf(body.expires_at) };
    return reply(201, unwrap(await this.ingress.keys.create(tenant, wanted, caller)));
  }

  @Operate('listApiKeys')
  async list(@OperationCall() { tenant, query }: Call<'listApiKeys'>): Promise<Reply> {
    return reply(200, await this.ingress.keys.list(tenant, pageOf(query)));
  }

  @Operate('rerollApiKey')
  async reroll(@OperationCall() { tenant, caller, params, body }: Call<'rerollApiKey'>): Promise<Reply> {
    const overlapMs = body.overlap_s * 1_000;
    return reply(201, unwrap(await this.ingress.keys.reroll(tenant, params.id, overlapMs, caller)));
  }

  @Operate('revokeApiKey')
  async revoke(@OperationCall() { tenant, params }: Call<'revokeApiKey'>): Promise<Reply> {
    unwrap(await this.ingress.keys.revoke(tenant, params.id));
    return noContent;
  }
}
