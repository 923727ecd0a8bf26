import { apiCodec, type Ingress } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { id as idSchema, msOf } from '../../../api/field.ts';
import { type Call, Operate, OperationCall } from '../../data-plane/call.ts';
import { noContent, type Reply, reply } from '../../data-plane/reply.ts';
import { HttpProblem, unwrap } from '../../problems/problem.ts';
import { INGRESS } from '../tokens.ts';

@Controller()
export class UserCredentialController {
  constructor(@Inject(INGRESS) private readonly ingress: Ingress) {}

  @Operate('putUserCredential')
  async put(@OperationCall() { tenant, params, body }: Call<'putUserCredential'>): Promise<Reply> {
    if (!idSchema.safeParse(params.user_id).success)
      throw new HttpProblem('INVALID_BODY', 'This is no id of an end user.');
    const wanted = body.type === 'bearer' ? body : { ...apiCodec.toCode(body), expiresAt: msOf(body.expires_at) };
    unwrap(await this.ingress.userCredentials.put(tenant, params.user_id, params.tool_server, wanted));
    return noContent;
  }

  @Operate('getUserCredential')
  async get(@OperationCall() { tenant, params }: Call<'getUserCredential'>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.userCredentials.get(tenant, params.user_id, params.tool_server)));
  }

  @Operate('listUserCredentials')
  async list(@OperationCall() { tenant, params }: Call<'listUserCredentials'>): Promise<Reply> {
    return reply(200, { data: await this.ingress.userCredentials.list(tenant, params.user_id), nextCursor: null });
  }

  @Operate('deleteUserCredential')
  async remove(@OperationCall() { tenant, params }: Call<'deleteUserCredential'>): Promise<Reply> {
    unwrap(await this.ingress.userCredentials.remove(tenant, params.user_id, params.tool_server));
    return noContent;
  }
}
