// Runs a handler once per idempotency key, records in the audit what it has done, and writes its reply. GETs and
// replies of bytes are never kept.
//
// Invariants:
//   R1. What the audit records of an operation is durable before its answer is written, and before it is kept for its
//       idempotency key. An audit that cannot be written is a 503: sent again with its key, the request is done again.
import { Fault, type KeptAnswer, parseTenantId, platformTenant, type TenantId } from '@dormouse/ports';
import type { AuditAction, Ingress } from '@dormouse/runtime';
import { type CallHandler, type ExecutionContext, type NestInterceptor, StreamableFile } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Readable } from 'node:stream';
import { defer, from, lastValueFrom, type Observable } from 'rxjs';
import type { Audited, Operation } from '../../api/operation.ts';
import type { Caller } from '../door/caller.ts';
import { type ApiRequest, idempotencyKeyOf, operationOf, paramsOf, pathOf } from '../data-plane/call.ts';
import { unwrap } from '../problems/problem.ts';
import { jsonType, type Reply } from '../data-plane/reply.ts';

const linesType = 'application/x-ndjson';

export class AnswerInterceptor implements NestInterceptor {
  constructor(private readonly ingress: Pick<Ingress, 'once' | 'audit'>) {}

  intercept(context: ExecutionContext, next: CallHandler<Reply>): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<ApiRequest>();
    const reply = http.getResponse<FastifyReply>();
    const operation = operationOf(context);
    const run = async (): Promise<Reply> => {
      const answer = await lastValueFrom(next.handle());
      await this.audit(operation, request, answer);
      return answer;
    };
    return defer(() => from(this.answer(operation, request, reply, run)));
  }

  /** (R1) */
  private async audit({ audit, answers }: Operation, request: ApiRequest, answer: Reply): Promise<void> {
    const { caller } = request;
    const hasMade = answer.status !== 200 || !(201 in answers); // 200 for what was there already
    if (audit === undefined || caller === undefined || !hasMade) return;
    const action = actionOf(audit, request);
    if (action === null) return;
    const target = targetOf(audit, request, answer);
    await this.ingress.audit.record({
      ...caller.by,
      tenant: concernedTenant(caller.tenant, target),
      action,
      target,
      outcome: 'done',
    });
  }

  private async answer(
    operation: Operation,
    request: ApiRequest,
    reply: FastifyReply,
    run: () => Promise<Reply>,
  ): Promise<unknown> {
    const { method, answersSecret } = operation;
    const key = method === 'POST' ? idempotencyKeyOf(request) : null;
    const { caller } = request;
    if (key === null || caller === undefined) return write(reply, located(operation, request, await run()));
    const body = request.body instanceof Uint8Array ? request.body : '';
    const limit = limitOf(caller, operation);
    const once = await this.ingress.once(
      { tenant: caller.tenant, route: `POST ${pathOf(request.url)}`, key, body, limit, isSecret: answersSecret },
      async () => kept(await run()),
    );
    const { answer, replayed } = unwrap(once);
    if (replayed) void reply.header('idempotency-replayed', 'true');
    const again: Reply = { status: answer.status, json: answer.body === '' ? null : answer.body };
    return write(reply, located(operation, request, again));
  }
}

/** Where the handler finds the thread, a repetition asks no token whether it opens it. (idempotency P6) */
function limitOf({ agents, only }: Caller, { access }: Operation): string | null {
  const isAsked = typeof access === 'object' && access.thread === 'found_later';
  if (only !== null && isAsked) return JSON.stringify({ thread: only.thread, family: only.family });
  return agents && JSON.stringify([...agents].sort());
}

/** What the platform does to a tenant is in that tenant's audit. */
function concernedTenant(tenant: TenantId, target: string | null): TenantId {
  const managed = tenant === platformTenant && target !== null ? parseTenantId(target) : null;
  return managed ?? tenant;
}

function kept(reply: Reply): KeptAnswer {
  if (reply.bytes !== undefined || reply.lines !== undefined)
    throw new Fault('INTERNAL', 'an answer of bytes cannot be kept');
  return { status: reply.status, body: reply.json ?? '' };
}

/** With the address of what it has made, also where the answer is an earlier one. */
function located({ location }: Operation, request: ApiRequest, answer: Reply): Reply {
  if (answer.status !== 201 || location === undefined || answer.json === null) return answer;
  return {
    ...answer,
    headers: { ...answer.headers, location: filled(location, paramsOf(request), answer.json, encodeURIComponent) },
  };
}

function actionOf({ action }: Audited, { body }: ApiRequest): AuditAction | null {
  if (typeof action === 'string') return action;
  return action(body instanceof Uint8Array && body.length > 0 ? JSON.parse(new TextDecoder().decode(body)) : {});
}

function targetOf({ target }: Audited, request: ApiRequest, { json }: Reply): string | null {
  return target === undefined ? null : filled(target, paramsOf(request), json ?? '{}', String);
}

/** `form` with the members of the answer and the parameters of the path. */
function filled(
  form: string,
  params: Readonly<Record<string, string>>,
  json: string,
  written: (value: string) => string,
): string {
  const made = JSON.parse(json) as Readonly<Record<string, string>>;
  return form
    .replaceAll(/\{\{(\w+)\}\}/g, (_, member: string) => written(made[member] ?? ''))
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => written(params[name] ?? ''));
}

function write(reply: FastifyReply, { status, json, bytes, lines, headers = {} }: Reply): unknown {
  void reply.status(status).headers(headers);
  if (bytes !== undefined) {
    void reply.header('content-type', bytes.mediaType).header('content-security-policy', "default-src 'none'; sandbox");
    return Buffer.from(bytes.content);
  }
  if (lines !== undefined) return new StreamableFile(Readable.from(textsOf(lines)), { type: linesType });
  if (json !== null) void reply.header('content-type', jsonType);
  return json ?? undefined;
}

async function* textsOf(lines: AsyncIterable<object>): AsyncIterable<string> {
  for await (const line of lines) yield `${JSON.stringify(line)}\n`;
}
