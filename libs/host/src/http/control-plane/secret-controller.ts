import type { Ingress } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { name as nameSchema, pageOf } from '../../api/field.ts';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { HttpProblem, unwrap } from '../problems/problem.ts';
import { noContent, type Reply, reply } from '../data-plane/reply.ts';
import { INGRESS } from './tokens.ts';

@Controller()
export class SecretController {
  constructor(@Inject(INGRESS) private readonly ingress: Ingress) {}

  @Operate('putSecret')
  async put(@OperationCall() { tenant, params, body }: Call<'putSecret'>): Promise<Reply> {
    if (!nameSchema.safeParse(params.name).success)
      throw new HttpProblem('INVALID_BODY', 'This is no name for a secret.');
    const origins = body.origins?.map((origin) => new URL(origin).origin) ?? null;
    unwrap(await this.ingress.secrets.put(tenant, params.name, body.value, origins));
    return noContent;
  }

  @Operate('listSecrets')
  async list(@OperationCall() { tenant, query }: Call<'listSecrets'>): Promise<Reply> {
    const { data, nextCursor } = await this.ingress.secrets.list(tenant, pageOf(query));
    return reply(200, { data: data.map(({ name, origins, createdAt }) => ({ name, origins, createdAt })), nextCursor });
  }

  @Operate('deleteSecret')
  async remove(@OperationCall() { tenant, params }: Call<'deleteSecret'>): Promise<Reply> {
    unwrap(await this.ingress.secrets.remove(tenant, params.name));
    return noContent;
  }
}
