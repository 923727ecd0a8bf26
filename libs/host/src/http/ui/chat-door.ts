// What the doors of all page protocols share: whose chat it is, and how an answer is streamed.
//
// Invariants:
//   U1. A disconnect stops nothing: the answer goes on in the thread.
//   U2. A key opens the thread of a chat; a token finds only one that is there, and that it opens.
//   U3. Choices are answered by callers who may answer, messages said by those who may speak.
import type { ThreadKey } from '@dormouse/ports';
import type { Ingress, Watched } from '@dormouse/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerer, talker } from '../../api/operation.ts';
import { type Caller, type Doorkeeper, mayOpen, mayUseAgent } from '../door/caller.ts';
import { unwrap } from '../problems/problem.ts';
import { whileGranted } from '../stream/event-route.ts';
import { writeTexts } from '../stream/event-stream.ts';
import type { StreamSeats } from '../stream/stream-seats.ts';

export interface UiRouteDeps {
  readonly ingress: Ingress;
  readonly doorkeeper: Doorkeeper;
  readonly seats: StreamSeats;
  readonly stopping: AbortSignal;
}

/** (U3) @throws HttpProblem FORBIDDEN */
export const mayWish = ({ doorkeeper }: UiRouteDeps, caller: Caller, wish: 'say' | 'answer'): Promise<void> =>
  doorkeeper.authorize(caller, { ...(wish === 'say' ? talker : answerer), thread: 'found_later' }, undefined);

/** (U2) @throws HttpProblem */
export async function chatThread(
  { ingress }: UiRouteDeps,
  caller: Caller,
  { agent, chatId }: { readonly agent: string; readonly chatId: string },
  opens: boolean,
): Promise<ThreadKey> {
  const { chats } = ingress;
  await mayUseAgent(ingress, caller, agent);
  const name = { tenant: caller.tenant, agent, chatId };
  const key = unwrap(await (opens && caller.only === null ? chats.open(name) : chats.find(name)));
  await mayOpen(ingress, caller, key.thread);
  return key;
}

export interface Streaming {
  readonly caller: Caller;
  readonly key: ThreadKey;
  readonly after: number;
  readonly reader: AbortController;
  readonly headers?: Readonly<Record<string, string>>;
}

/** (U1) `encode` gives the text of what the thread does, to the end of the answer. */
export function streamAnswer(
  deps: UiRouteDeps,
  { caller, key, after, reader, headers = {} }: Streaming,
  encode: (frames: AsyncIterable<Watched>) => AsyncIterable<string>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  return deps.seats.seated(key.tenant, () =>
    whileGranted(deps, caller.credential, reader, async (signal) => {
      const frames = unwrap(await deps.ingress.chats.watch(key, after, signal));
      reply.hijack();
      if (!reader.signal.aborted) await writeTexts(reply.raw, request.id, encode(frames), reader, { headers });
      return reply;
    }),
  );
}
