// POST /hooks/{source}/{token}: where others deliver what they have signed. A plain Fastify route in a context of its
// own, because the signature is over the bytes of the body, whatever their media type.
//
// Invariants:
//   W1. The path holds a credential: nothing here logs it, and no answer repeats it.
//   W2. The token is judged, and the tenant's share of requests, before a byte of the body is read.
import type { IncomingMessage } from 'node:http';
import type { HookAnswer, Ingress } from '@dormouse/runtime';
import type { FastifyInstance } from 'fastify';
import { bodyBytesMax } from '../data-plane/body.ts';
import { reply as jsonReply, type Reply } from '../data-plane/reply.ts';
import { leaveBodies, receiveBytes } from '../data-plane/request-bytes.ts';
import type { RateGate } from '../door/rate-gate.ts';
import { bodyTooLarge, unwrap } from '../problems/problem.ts';
import type { BodyRoom } from '../server/arrivals.ts';
import { patternOf } from '../server/route-name.ts';

export interface HookRouteDeps {
  readonly ingress: Pick<Ingress, 'hooks' | 'tenantRecords'>;
  readonly gate: RateGate;
  readonly room: BodyRoom;
}

const hookRoute = '/hooks/{source}/{token}';

interface HookPath {
  readonly source: string;
  readonly token: string;
}

export function registerHookRoute(server: FastifyInstance, deps: HookRouteDeps): void {
  leaveBodies(server); // (W2)
  server.post<{ Params: HookPath }>(patternOf(hookRoute), async ({ params, raw }, reply) => {
    const { status, json } = await take(deps, params, raw);
    return reply.status(status).header('content-type', 'application/json; charset=utf-8').send(json);
  });
}

async function take({ ingress, gate, room }: HookRouteDeps, path: HookPath, raw: IncomingMessage): Promise<Reply> {
  const source = unwrap(await ingress.hooks.find(path.source, path.token)); // (W2)
  const record = await ingress.tenantRecords.of(source.tenant);
  await gate.pass(source.tenant, record?.quotas.requestsPerS);
  const { bytes: body, truncated } = await receiveBytes(raw, bodyBytesMax, room);
  if (truncated) throw bodyTooLarge(bodyBytesMax);
  return replyOf(unwrap(await ingress.hooks.receive(source, { headers: raw.headers, body })));
}

/** 202 for what has led to something, 200 for what had before. */
function replyOf(answer: HookAnswer): Reply {
  if ('challenge' in answer) return jsonReply(200, answer);
  const { id, threadId, isFirst } = answer;
  return jsonReply(isFirst ? 202 : 200, { id, threadId });
}
