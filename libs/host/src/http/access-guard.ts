// Every Nest route passes here first: admitted by name, identified, allowed.
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type ApiRequest, operationOf, paramsOf } from './call.ts';
import { authorize, type Doorkeeper, refuseQueryToken } from './caller.ts';

export class AccessGuard implements CanActivate {
  private readonly doorkeeper: Doorkeeper;

  constructor(doorkeeper: Doorkeeper) {
    this.doorkeeper = doorkeeper;
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { access } = operationOf(context);
    if (access === 'open') return true;
    const request = context.switchToHttp().getRequest<ApiRequest>();
    this.doorkeeper.admit(request.headers);
    refuseQueryToken(request);
    const caller = await this.doorkeeper.identify(request.headers);
    authorize(caller, access, paramsOf(request)['thread']);
    context.switchToHttp().getResponse<FastifyReply>().headers(caller.rate);
    request.caller = caller;
    return true;
  }
}
