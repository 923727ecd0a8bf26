// Runs a handler once per idempotency key and writes its reply. GETs and replies of bytes are never kept.
import { Fault, type KeptAnswer } from '@dormouse/ports';
import type { Ingress } from '@dormouse/runtime';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { defer, from, lastValueFrom, type Observable } from 'rxjs';
import type { Operation } from '../../api/operation.ts';
import { type ApiRequest, idempotencyKeyOf, operationOf, paramsOf, pathOf } from '../data-plane/call.ts';
import { unwrap } from '../problems/problem.ts';
import type { Reply } from '../data-plane/reply.ts';

const jsonType = 'application/json; charset=utf-8';

export class AnswerInterceptor implements NestInterceptor {
  private readonly ingress: Pick<Ingress, 'once'>;

  constructor(ingress: Pick<Ingress, 'once'>) {
    this.ingress = ingress;
  }

  intercept(context: ExecutionContext, next: CallHandler<Reply>): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<ApiRequest>();
    const reply = http.getResponse<FastifyReply>();
    const run = (): Promise<Reply> => lastValueFrom(next.handle());
    return defer(() => from(this.answer(operationOf(context), request, reply, run)));
  }

  private async answer(
    operation: Operation,
    request: ApiRequest,
    reply: FastifyReply,
    run: () => Promise<Reply>,
  ): Promise<unknown> {
    const { method, answersSecret } = operation;
    const key = method === 'POST' ? idempotencyKeyOf(request) : null;
    if (key === null || request.caller === undefined) return write(reply, located(operation, request, await run()));
    const body = request.body instanceof Uint8Array ? request.body : '';
    const once = await this.ingress.once(
      { tenant: request.caller.tenant, route: `POST ${pathOf(request.url)}`, key, body, isSecret: answersSecret },
      async () => kept(await run()),
    );
    const { answer, replayed } = unwrap(once);
    if (replayed) void reply.header('idempotency-replayed', 'true');
    const again: Reply = { status: answer.status, json: answer.body === '' ? null : answer.body };
    return write(reply, located(operation, request, again));
  }
}

function kept(reply: Reply): KeptAnswer {
  if (reply.bytes !== undefined) throw new Fault('INTERNAL', 'an answer of bytes cannot be kept');
  return { status: reply.status, body: reply.json ?? '' };
}

/** With the address of what it has made, also where the answer is an earlier one. */
function located({ location }: Operation, request: ApiRequest, answer: Reply): Reply {
  if (answer.status !== 201 || location === undefined || answer.json === null) return answer;
  return { ...answer, headers: { ...answer.headers, location: addressOf(location, paramsOf(request), answer.json) } };
}

function addressOf(form: string, params: Readonly<Record<string, string>>, json: string): string {
  const made = JSON.parse(json) as Readonly<Record<string, string>>;
  return form
    .replaceAll(/\{\{(\w+)\}\}/g, (_, member: string) => encodeURIComponent(made[member] ?? ''))
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}

function write(reply: FastifyReply, { status, json, bytes, headers = {} }: Reply): unknown {
  void reply.status(status).headers(headers);
  if (bytes !== undefined) {
    void reply.header('content-type', bytes.mediaType).header('content-security-policy', "default-src 'none'; sandbox");
    return Buffer.from(bytes.content);
  }
  if (json !== null) void reply.header('content-type', jsonType);
  return json ?? undefined;
}
