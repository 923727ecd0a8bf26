// Turns every error thrown by a route of Nest or Fastify into a problem document.
import type { Logger } from '@dormouse/ports';
import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { problemAnswer, type ProblemRequest } from './problem.ts';

@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    sendProblem(http.getResponse<FastifyReply>(), http.getRequest<FastifyRequest>(), thrown, this.logger);
  }
}

export function sendProblem(reply: FastifyReply, request: ProblemRequest, thrown: unknown, logger: Logger): void {
  const { status, headers, body } = problemAnswer(request, thrown, logger);
  void reply.status(status).headers(headers).send(body);
}
