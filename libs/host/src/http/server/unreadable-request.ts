// Input that is no HTTP request, or does not become one in time, is answered before any route: with a problem document
// too, and the connection ends.
//
// Invariant:
//   U1. Nothing is written into an answer that has begun: a client that pipelines garbage gets a closed connection.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { HttpProblem, problemJson, retryAfterS } from '../problems/problem.ts';
import { standardHeaders } from './standard-headers.ts';

export function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket, requestId: string): void {
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy(); // (U1)
    return;
  }
  endWith(socket, problemOf(error), requestId);
}

/** A connection beyond the bound of its peer. */
export function endUnfinished(socket: Socket, requestId: string): void {
  if (!socket.writable || socket.bytesWritten > 0) return void socket.destroy(); // (U1)
  endWith(socket, new HttpProblem('UNAVAILABLE', 'Too many requests of this peer are unfinished.'), requestId);
}

/** RFC 9112, 3.2. node:http would refuse it by itself, without a word. @throws HttpProblem MALFORMED_REQUEST */
export function requireHost({ headers, httpVersion }: IncomingMessage): void {
  if (headers.host === undefined && httpVersion === '1.1')
    throw new HttpProblem('MALFORMED_REQUEST', 'A request of HTTP/1.1 needs a Host header.');
}

/**
 * An expectation that no server knows is one that nothing has to meet. RFC 9110, 10.1.1 `100 Continue` is written where
 * the answer has its connection: node:http would write that of a pipelined request into the middle of its answer.
 */
export function answerExpectations(server: Server): void {
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
  server.on('checkContinue', (request, response: ServerResponse) => {
    if (response.socket !== null) response.writeContinue();
    server.emit('request', request, response);
  });
}

function problemOf({ code = '' }: NodeJS.ErrnoException): HttpProblem {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new HttpProblem('REQUEST_TIMEOUT', 'The request did not come to its end in time.');
  return /HEADER_OVERFLOW/.test(code)
    ? new HttpProblem('HEADERS_TOO_LARGE', 'The headers of the request exceed 16 KiB.')
    : new HttpProblem('MALFORMED_REQUEST', 'This is not an HTTP request that can be read.');
}

function endWith(socket: Socket, problem: HttpProblem, requestId: string): void {
  const body = problemJson(problem, requestId);
  const retry = retryAfterS(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${problem.code}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    ...Object.entries(standardHeaders(requestId)).map(([name, value]) => `${name}: ${value}`),
    ...(retry === null ? [] : [`retry-after: ${retry}`]),
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.destroySoon(); // even while the other side keeps sending
}
