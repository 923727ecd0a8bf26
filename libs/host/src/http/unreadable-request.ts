// What is no HTTP request at all is answered before any route: as a problem document too, and the connection ends.
//
// Invariant:
//   U1. Nothing is written into an answer that has begun: who pipelines garbage gets a closed connection.
import type { Socket } from 'node:net';
import { HttpProblem, problemJson } from './problem.ts';

export function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket, requestId: string): void {
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy(); // (U1)
    return;
  }
  const problem = /HEADER_OVERFLOW/.test(error.code ?? '')
    ? new HttpProblem('HEADERS_TOO_LARGE', 'The headers of the request exceed 16 KiB.')
    : new HttpProblem('MALFORMED_REQUEST', 'This is not an HTTP request that can be read.');
  const body = problemJson(problem, requestId);
  const head = [
    `HTTP/1.1 ${problem.status} ${problem.code}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
