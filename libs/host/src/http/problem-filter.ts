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

export function sendProblem(reply: FastifyReply, request: ProblemRequest, thrown: unknown, logger: Logger): void {
  const { status, headers, body } = problemAnswer(request, thrown, logger);
  void reply.status(status).headers(headers).send(body);
}

/** What a problem document needs to know of the request. */
export type ProblemRequest = Pick<FastifyRequest, 'id' | 'headers'>;

export interface ProblemAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes: Fastify adds a charset to texts. */
  readonly body: Buffer;
}

export function problemAnswer({ id, headers }: ProblemRequest, thrown: unknown, logger: Logger): ProblemAnswer {
  const problem = toProblem(thrown);
  if (problem.status >= 500) logFailure(problem, id, logger);
  const retry = retryAfterS(problem);
  return {
    status: problem.status,
    headers: {
      ...(retry === null ? {} : { 'retry-after': String(retry) }),
      ...(problem.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...problem.about.headers,
      'content-type': 'application/problem+json',
    },
    body: Buffer.from(problemJson(problem, id, traceIdOf(headers['traceparent']))),
  };
}

function logFailure(problem: HttpProblem, requestId: string, logger: Logger): void {
  const { cause } = problem;
  logger.error('request_failed', {
    request_id: requestId,
    code: problem.code,
    reason: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause),
  });
}
