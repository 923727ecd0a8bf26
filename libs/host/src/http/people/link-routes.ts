// GET and POST /answer/{token}: the page behind an answer link, and the form that it posts. Plain Fastify routes in a
// context of their own.
//
// Invariants:
//   A1. The path holds a credential: nothing here logs it, no page repeats it, and no page tells it to another site.
//   A2. GET changes nothing. (answer-links A1)
//   A3. The token is judged before the body is read, and counts as a request of its tenant.
//   A4. `Origin` is not asked for: a page that names no referrer posts its own form with the origin `null`. What makes
//       the answer is the token in the path, which a page of another site does not know.
import type { IncomingMessage } from 'node:http';
import type { AnswerLinkApi, Ingress, LinkGiven } from '@dormouse/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { documentHeaders } from '../console/page-headers.ts';
import { leaveBodies, receiveBytes } from '../data-plane/request-bytes.ts';
import type { Doorkeeper } from '../door/caller.ts';
import type { RateGate } from '../door/rate-gate.ts';
import { bodyTooLarge, HttpProblem } from '../problems/problem.ts';
import type { BodyRoom } from '../server/arrivals.ts';
import { patternOf } from '../server/route-name.ts';
import {
  type AnswerNotice,
  noticeOf,
  questionPage,
  reasonCharactersMax,
  refusedNotice,
  takenNotice,
} from './answer-page.ts';

export interface LinkRouteDeps {
  readonly ingress: Pick<Ingress, 'answerLinks' | 'tenantRecords'>;
  readonly doorkeeper: Pick<Doorkeeper, 'admit'>;
  readonly gate: RateGate;
  readonly room: BodyRoom;
}

export const answerPath = '/answer/';

type LinkRequest = FastifyRequest<{ Params: { token: string } }>;

const formType = 'application/x-www-form-urlencoded';
/** A reason in which every character takes nine, and the names. */
const formBytesMax = 9 * reasonCharactersMax + 256;

const pageHeaders: Readonly<Record<string, string>> = {
  ...documentHeaders,
  'cache-control': 'no-store',
  'content-type': 'text/html; charset=utf-8',
};

export function registerLinkRoutes(server: FastifyInstance, deps: LinkRouteDeps): void {
  const links: AnswerLinkApi = deps.ingress.answerLinks;
  leaveBodies(server); // (A3)

  server.get<{ Params: { token: string } }>(patternOf(`${answerPath}{token}`), async (request, reply) => {
    await enter(deps, request);
    const looked = await links.look(request.params.token); // (A2)
    if (looked.state !== 'open') return send(reply, noticeOf(looked));
    return send(reply, { status: 200, page: questionPage(looked.value) });
  });

  server.post<{ Params: { token: string } }>(patternOf(`${answerPath}{token}`), async (request, reply) => {
    await enter(deps, request);
    const form = await formOf(request.raw, deps.room);
    const given = givenBy(form, request);
    if (given === null) return send(reply, refusedNotice(422, 'Choose one of the buttons of the page.'));
    const taken = await links.answer(request.params.token, given);
    if (!taken.ok) return send(reply, refusedNotice(422, 'This link does not allow that answer.'));
    return send(reply, taken.value.state === 'open' ? takenNotice(given.answer) : noticeOf(taken.value));
  });
}

/** (A3) @throws HttpProblem FORBIDDEN for a name that is not ours, RATE_LIMITED */
async function enter({ doorkeeper, ingress, gate }: LinkRouteDeps, { params, headers }: LinkRequest): Promise<void> {
  doorkeeper.admit({ host: headers.host }); // (A4)
  const tenant = await ingress.answerLinks.tenantOf(params.token);
  if (tenant === null) return;
  const record = await ingress.tenantRecords.of(tenant);
  await gate.pass(tenant, record?.quotas.requestsPerS);
}

/** @throws HttpProblem UNSUPPORTED_MEDIA_TYPE, BODY_TOO_LARGE */
async function formOf(request: IncomingMessage, room: BodyRoom): Promise<URLSearchParams> {
  const type = request.headers['content-type'] ?? '';
  if (type.split(';')[0]?.trim().toLowerCase() !== formType)
    throw new HttpProblem('UNSUPPORTED_MEDIA_TYPE', `This page takes the form that it shows: ${formType}.`);
  const { bytes, truncated } = await receiveBytes(request, formBytesMax, room);
  if (truncated) throw bodyTooLarge(formBytesMax);
  return new URLSearchParams(bytes.toString('utf8'));
}

/** Null for a form without exactly one known answer. */
function givenBy(form: URLSearchParams, { ip, id }: FastifyRequest): LinkGiven | null {
  const [answer, ...others] = form.getAll('answer');
  if ((answer !== 'allow' && answer !== 'deny') || others.length > 0) return null;
  const reason = (form.get('reason') ?? '').trim().slice(0, reasonCharactersMax).toWellFormed();
  return { answer, reason: reason === '' ? null : reason, source: { from: ip, requestId: id } };
}

const send = (reply: FastifyReply, { status, page }: AnswerNotice): FastifyReply =>
  reply.status(status).headers(pageHeaders).send(page);
