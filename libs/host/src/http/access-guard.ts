// Every Nest route passes here first: admitted by name, identified, allowed.
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type ApiRequest, operationOf, paramsOf } from './call.ts';
import { authorize, type Doorkeeper } from './caller.ts';
import { HttpProblem } from './problem.ts';

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
    if ((request.query as { readonly access_token?: unknown }).access_token !== undefined) {
      throw new HttpProblem('UNAUTHENTICATED', 'A token in the query is accepted on the event stream only.');
    }
    const caller = await this.doorkeeper.identify(request.headers);
    authorize(caller, access, paramsOf(request)['thread']);
    context.switchToHttp().getResponse<FastifyReply>().headers(caller.rate);
    request.caller = caller;
    return true;
  }
}
