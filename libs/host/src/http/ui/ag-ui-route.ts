// The door of AG-UI 1.0: its clients talk to an agent through it, unmodified.
//
// Invariants:
//   W1. A run that cannot begin as it is asked for is a run that fails: RUN_ERROR, status 200. So are answers to some
//       of the open interrupts, and a message while there are any: nothing of them is done.
//      An answer that is refused is as one that is missing.
//   W2. A token answers what the threads ask that it opens, which may be fewer than those of the interrupts.
//   W3. Calls that the client's messages have are not begun again.
import type { ThreadKey } from '@dormouse/ports';
import { contentItemsMax } from '@dormouse/protocol';
import {
  AgUiEncoder,
  type ChoiceReply,
  failedRun,
  type MessageItem,
  type OpenQuestion,
  type RunEvent,
  startedRun,
  type Watched,
} from '@dormouse/runtime';
import type { Answer } from '@dormouse/thread';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { runInput } from '../../api/ag-ui.ts';
import { isBase64 } from '../../api/field.ts';
import { readBody } from '../data-plane/body.ts';
import { noParameters } from '../data-plane/call.ts';
import { credentialOf } from '../control-plane/given-answer.ts';
import { type Caller, mayOpen } from '../door/caller.ts';
import { callerOf } from '../door/head-judge.ts';
import { HttpProblem, unwrap } from '../problems/problem.ts';
import { readerOf } from '../stream/event-route.ts';
import { invalid } from './ai-sdk-request.ts';
import { chatThread, mayWish, streamAnswer, type UiRouteDeps } from './chat-door.ts';

type RunInput = z.output<typeof runInput>;

export function registerAgUiRoute(server: FastifyInstance, deps: UiRouteDeps): void {
  const { chats } = deps.ingress;
  server.post<{ Params: { agent: string } }>('/v1/ui/ag-ui/:agent', async (request, reply) => {
    const reader = readerOf(reply);
    const caller = callerOf(request);
    noParameters(request);
    const input = readBody(request.body, runInput);
    const { threadId, runId, resume = [] } = input;
    await mayWish(deps, caller, resume.length > 0 ? 'answer' : 'say');
    const key = await chatThread(deps, caller, { agent: request.params.agent, chatId: threadId }, true);
    const run = { threadId, runId };
    const begun = await begin(key, input, caller).catch((problem: unknown) => {
      if (problem instanceof HttpProblem && problem.status < 500) return textOf(problem);
      throw problem;
    });
    if (typeof begun === 'string') {
      const text = [startedRun(run), failedRun(begun)].map(eventText).join('');
      return reply.header('content-type', 'text/event-stream; charset=utf-8').send(text); // (W1)
    }
    const encoder = new AgUiEncoder(run, { messageId: null, turnId: null, ...begun.beginning });
    const streaming = { caller, key, reader, after: begun.after };
    return streamAnswer(deps, streaming, (frames) => eventTexts(encoder, frames), request, reply);
  });

  interface Begun {
    readonly after: number;
    readonly beginning: { readonly awaits: string | null; readonly calls: readonly string[] };
  }

  /** @throws HttpProblem, which is a failed run */
  async function begin(key: ThreadKey, input: RunInput, caller: Caller): Promise<Begun> {
    const open = await chats.questions(key);
    const { messages, resume = [] } = input;
    const left = open.filter(({ id }) => !resume.some(({ interruptId }) => interruptId === id));
    if (left.length > 0)
      throw new HttpProblem('INVALID_BODY', `Interrupts are open that this run does not answer: ${left.length}.`);
    if (resume.length > 0) {
      const replies = resume.map((entry, place) => replyOf(entry, place, open, caller));
      for (const { thread = key.thread } of replies) await mayOpen(deps.ingress, caller, thread); // (W2)
      const { after, calls } = unwrap(await chats.answer(key, replies));
      return { after, beginning: { awaits: null, calls: [...calls, ...messages.flatMap(callsOf)] } };
    }
    const message = messages.findLast(({ role }) => role === 'user');
    if (message === undefined) throw invalid('/messages', 'has no message of the user');
    const { after, messageId } = unwrap(await chats.say(key, message.id, itemsOf(message)));
    return { after, beginning: { awaits: messageId, calls: [] } };
  }
}

/** (W3) */
const callsOf = ({ toolCalls }: RunInput['messages'][number]): readonly string[] =>
  z
    .array(z.looseObject({ id: z.string() }))
    .catch([])
    .parse(toolCalls)
    .map(({ id }) => id);

/** For a client that shows no more than this. */
function textOf({ code, message, about: { errors = [] } }: HttpProblem): string {
  const where = errors.map(({ pointer, detail }) => `${pointer} ${detail}`.trim()).join('; ');
  return `${code}: ${where === '' ? message : where}`;
}

const approval = z.looseObject({
  approved: z.boolean(),
  reason: z.string().max(2_000).optional(),
  arguments: z.record(z.string(), z.unknown()).optional(),
});
const choice = z.looseObject({ selected: z.int().min(0).max(1_000) });

/** @throws HttpProblem */
function replyOf(
  { interruptId, status, payload }: NonNullable<RunInput['resume']>[number],
  place: number,
  open: readonly OpenQuestion[],
  caller: Caller,
): ChoiceReply {
  const { name: decidedBy, by } = caller;
  const asked = open.find(({ id }) => id === interruptId);
  const about = { choiceId: interruptId, ...(asked === undefined ? {} : { thread: asked.thread }) };
  const say = (answer: Answer, reason: string | null, edited?: Readonly<Record<string, unknown>>): ChoiceReply => ({
    ...about,
    answer: { answer, reason, decidedBy, by, credential: credentialOf(caller), arguments: edited },
  });
  if (status === 'cancelled') return say({ answer: 'dismiss' }, null);
  const selected = choice.safeParse(payload);
  if (selected.success) return say({ answer: 'selected', selected: selected.data.selected }, null);
  const given = approval.safeParse(payload);
  if (!given.success) throw invalid(`/resume/${place}/payload`, 'is neither {approved} nor {selected}');
  const { approved, reason = null, arguments: edited } = given.data;
  return say({ answer: 'decision', decision: approved ? 'allow' : 'deny' }, reason, edited);
}

/** @throws HttpProblem */
function itemsOf({ content }: RunInput['messages'][number]): readonly MessageItem[] {
  if (typeof content === 'string' && content !== '') return [{ type: 'text', text: content }];
  const parts = Array.isArray(content) ? content : [];
  const items = parts.map((part): MessageItem => {
    if (part.type === 'text' && typeof part['text'] === 'string') return { type: 'text', text: part['text'] };
    const source = imageSource.safeParse(part['source']);
    if (part.type !== 'image' || !source.success) throw invalid('/messages', 'has a part that is no text and no image');
    return { type: 'image', data: source.data.value, mediaType: source.data.mimeType };
  });
  if (items.length === 0 || items.length > contentItemsMax) throw invalid('/messages', 'has no text and no image');
  return items;
}

const imageSource = z.looseObject({
  type: z.literal('data'),
  value: z.string().min(1).refine(isBase64),
  mimeType: z.string().regex(/^image\/[a-z0-9.+-]{1,100}$/),
});

const eventText = (event: RunEvent): string => `data: ${JSON.stringify(event)}\n\n`;

async function* eventTexts(encoder: AgUiEncoder, frames: AsyncIterable<Watched>): AsyncGenerator<string> {
  for await (const frame of frames) {
    const text = encoder.take(frame).map(eventText).join('');
    if (text !== '') yield text;
    if (encoder.isOver) return;
  }
}
