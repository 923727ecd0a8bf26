// Whatever a Nest route throws becomes a problem document. What is our own mistake is logged, with the request's id.
import type { Logger } from '@dormouse/ports';
import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type HttpProblem, problemJson, retryAfterS, toProblem, traceIdOf } from './problem.ts';

@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger: Logger;

  constructor(logger: Logger) {
    this.logger = logger;
  }

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    sendProblem(http.getResponse<FastifyReply>(), http.getRequest<FastifyRequest>(), thrown, this.logger);
  }
}

export function sendProblem(
  reply: FastifyReply,
  { id, headers }: Pick<FastifyRequest, 'id' | 'headers'>,
  thrown: unknown,
  logger: Logger,
): void {
  const problem = toProblem(thrown);
  if (problem.status >= 500) logFailure(problem, id, logger);
  const retry = retryAfterS(problem);
  if (retry !== null) void reply.header('retry-after', String(retry));
  if (problem.status === 401) void reply.header('www-authenticate', 'Bearer');
  if (problem.about.headers !== undefined) void reply.headers(problem.about.headers);
  void reply
    .status(problem.status)
    .header('content-type', 'application/problem+json')
    .send(Buffer.from(problemJson(problem, id, traceIdOf(headers['traceparent'])))); // bytes: Fastify adds a charset to texts
}

function logFailure(problem: HttpProblem, requestId: string, logger: Logger): void {
  const { cause } = problem;
  logger.error('request_failed', {
    request_id: requestId,
    code: problem.code,
    reason: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause),
  });
}
