// No Nest handler runs for a request that was not admitted by its head (head-judge.ts).
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { type ApiRequest, operationOf } from '../data-plane/call.ts';
import { callerOf } from './head-judge.ts';

export class AccessGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (operationOf(context).access === 'open') return true;
    callerOf(context.switchToHttp().getRequest<ApiRequest>());
    return true;
  }
}
