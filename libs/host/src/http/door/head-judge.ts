// What is decided about a request from its head alone, before a byte of its body is read: for every operation that
// needs a key, except the events of a thread, whose route also judges a token in the query and takes no body.
//
// Invariants:
//   J1. An operation is found by its method and its route. A route that is none has no caller, and who needs one
//       refuses.
//   J2. A body that says that it is too large is refused here; one that does not say so, while it is read.
//   J3. What a thread token may do is done at routes of `/v1/threads/{id}`: there `id` is the thread. Elsewhere the
//       handler finds the thread, and asks. (caller K6) `/v1/parked/{thread}` names one too.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { allOperations, operations } from '../../api/operations.ts';
import type { Access, Operation, PlatformAccess } from '../../api/operation.ts';
import { bodyBytesMax, importedBlobBytesMax } from '../data-plane/body.ts';
import { type ApiRequest, paramsOf } from '../data-plane/call.ts';
import { type Caller, type Doorkeeper, enter } from './caller.ts';
import { bodyTooLarge, HttpProblem } from '../problems/problem.ts';
import { saysMoreThan } from '../data-plane/request-bytes.ts';
import { routeOf } from '../server/route-name.ts';

type Guarded = Operation & { readonly access: Access | PlatformAccess };

const isGuarded = (operation: Operation): operation is Guarded => operation.access !== 'open';

const judged = new Map<string, Guarded>(
  allOperations
    .filter(isGuarded)
    .filter((each) => each.id !== operations.listEvents.id)
    .map((each) => [each.route, each]),
);

/** Resolves when the request may go on. @throws HttpProblem */
export async function judgeHead(doorkeeper: Doorkeeper, request: ApiRequest, reply: FastifyReply): Promise<void> {
  const operation = operationAt(request);
  if (operation === undefined) {
    const limit = bodyLimits.get(routeOf(request) ?? '');
    if (limit !== undefined && saysMoreThan(limit, request)) throw bodyTooLarge(limit); // (J2)
    return; // (J1)
  }
  const { id, thread = id } = paramsOf(request);
  const caller = await enter(doorkeeper, request, operation.access, thread); // (J3)
  reply.headers(caller.rate);
  request.caller = caller;
  const limit = bodyBytesMaxOf(request);
  if (saysMoreThan(limit, request)) throw bodyTooLarge(limit); // (J2)
}

/** (J1) @throws HttpProblem UNAUTHENTICATED */
export function callerOf({ caller }: ApiRequest): Caller {
  if (caller === undefined) throw new HttpProblem('UNAUTHENTICATED', 'This needs a key.');
  return caller;
}

/** Routes whose bodies have a limit of their own: a key is to be signed in with, and comes before any is known. */
const bodyLimits: ReadonlyMap<string, number> = new Map([
  [operations.importBlob.path, importedBlobBytesMax],
  [operations.signIn.path, 4_096],
]);

export const bodyBytesMaxOf = (request: FastifyRequest): number =>
  bodyLimits.get(routeOf(request) ?? '') ?? bodyBytesMax;

/** HEAD is answered as GET. */
const operationAt = (request: FastifyRequest): Guarded | undefined =>
  judged.get(`${request.method === 'HEAD' ? 'GET' : request.method} ${routeOf(request) ?? ''}`);
