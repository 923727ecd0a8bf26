// What a page of the AI SDK wants, from the one message of its request that is used.
import { contentItemsMax } from '@dormouse/protocol';
import type { ChoiceReply, MessageItem } from '@dormouse/runtime';
import type { z } from 'zod';
import type { chatRequest } from '../../api/ai-sdk.ts';
import { isBase64 } from '../../api/field.ts';
import { credentialOf } from '../control-plane/given-answer.ts';
import { unusable } from '../data-plane/body.ts';
import type { Caller } from '../door/caller.ts';
import { type HttpProblem, invalidAt } from '../problems/problem.ts';

type Body = z.output<typeof chatRequest>;
type Message = Body['messages'][number];

export type Wish =
  | { readonly wish: 'say' | 'again'; readonly messageId: string; readonly items: readonly MessageItem[] }
  | {
      readonly wish: 'answer';
      readonly replies: readonly ChoiceReply[];
      /** The message that goes on, and the calls that it shows. */
      readonly messageId: string;
      readonly calls: readonly string[];
    };

/** @throws HttpProblem INVALID_BODY */
export function wishOf({ messages, trigger }: Body, caller: Caller): Wish {
  const place =
    trigger === 'submit-message' ? messages.length - 1 : messages.findLastIndex(({ role }) => role === 'user');
  const message = messages[place];
  if (message?.role === 'user') {
    const wish = trigger === 'submit-message' ? 'say' : 'again';
    return { wish, messageId: message.id, items: itemsOf(message, `/messages/${place}/parts`) };
  }
  const replies = message?.role === 'assistant' ? repliesOf(message, caller) : [];
  if (message === undefined || replies.length === 0)
    throw invalid(`/messages/${Math.max(0, place)}`, 'is neither a message of the user nor an answer to an approval');
  const calls = message.parts.flatMap(({ toolCallId }) => (typeof toolCallId === 'string' ? [toolCallId] : []));
  return { wish: 'answer', replies, messageId: message.id, calls };
}

function itemsOf({ parts }: Message, pointer: string): readonly MessageItem[] {
  const items: MessageItem[] = [];
  for (const [place, part] of parts.entries()) {
    if (part.type === 'text' && typeof part['text'] === 'string' && part['text'] !== '')
      items.push({ type: 'text', text: part['text'] });
    if (part.type === 'file') items.push(imageOf(part, `${pointer}/${place}`));
  }
  if (items.length === 0) throw invalid(pointer, 'has no text and no image');
  if (items.length > contentItemsMax) throw invalid(pointer, `allows at most ${contentItemsMax} texts and images`);
  return items;
}

function imageOf(part: Message['parts'][number], pointer: string): MessageItem {
  const { mediaType, url } = part;
  const [, data = ''] = /^data:image\/[a-z0-9.+-]{1,100};base64,(.+)$/.exec(typeof url === 'string' ? url : '') ?? [];
  if (typeof mediaType !== 'string' || !/^image\/[a-z0-9.+-]{1,100}$/.test(mediaType) || !isBase64(data))
    throw invalid(pointer, 'is no image as a data URL in base64');
  return { type: 'image', data, mediaType };
}

function repliesOf({ parts }: Message, caller: Caller): readonly ChoiceReply[] {
  return parts.flatMap(({ state, approval }): readonly ChoiceReply[] => {
    if (state !== 'approval-responded' || typeof approval !== 'object' || approval === null) return [];
    const { id, approved, reason } = approval as Readonly<Record<string, unknown>>;
    if (typeof id !== 'string' || typeof approved !== 'boolean') return [];
    const decision = approved ? 'allow' : 'deny';
    const why = typeof reason === 'string' && reason !== '' ? reason.slice(0, 2_000) : null;
    const said = { answer: { answer: 'decision', decision }, reason: why, decidedBy: caller.name } as const;
    return [{ choiceId: id, answer: { ...said, by: caller.by, credential: credentialOf(caller) } }];
  });
}

export const invalid = (pointer: string, detail: string): HttpProblem => invalidAt(pointer, detail, unusable);
