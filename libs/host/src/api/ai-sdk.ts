// The door of the AI SDK: what `useChat` sends, and what it reads.
import { contentItemsMax } from '@dormouse/protocol';
import { z } from 'zod';
import { accepted, id, queryPosition } from './field.ts';
import { operationsOf, talker, talkerOrAnswerer, threadReader } from './operation.ts';

/** Of a message only what is used here is checked: pages keep fields of their own in it. */
const uiMessage = z.looseObject({
  id,
  role: z.enum(['system', 'user', 'assistant']),
  parts: z.array(z.looseObject({ type: z.string() })).max(10 * contentItemsMax),
});

const messagesMax = 10_000;

export const chatRequest = z
  .looseObject({
    id,
    messages: z.array(uiMessage).min(1).max(messagesMax),
    trigger: z.enum(['submit-message', 'regenerate-message']).default('submit-message'),
  })
  .meta({
    id: 'AiSdkRequest',
    description:
      'As `useChat` sends it: `id` is the chat, the thread’s `external_id`. Of `messages` only the last one is used: a ' +
      'user’s message, or the answers to approvals; everything else is in the thread already. Other fields are ignored.',
  });

export const chatStreamQuery = z.strictObject({ after: queryPosition.optional() });

export const chatHistory = z
  .object({
    messages: z.array(
      z.looseObject({ id: z.string(), role: z.string(), parts: z.array(z.looseObject({ type: z.string() })) }),
    ),
    position: z.int(),
  })
  .meta({ id: 'AiSdkMessages', description: 'The newest messages of the chat, and the position up to which they go.' });

const stream = 'text/event-stream';
const later = { thread: 'found_later' } as const;

export const aiSdkOperations = operationsOf('ui', {
  aiSdkSend: {
    route: 'POST /v1/ui/ai-sdk/{agent}',
    summary:
      'The last message of a chat, or answers to approvals; answers the UI message stream of the AI SDK, version 1',
    access: { ...talkerOrAnswerer, ...later },
    body: chatRequest,
    problems: ['QUOTA_EXCEEDED'],
    answers: { 200: stream },
  },
  aiSdkResume: {
    route: 'GET /v1/ui/ai-sdk/{agent}/{chatId}/stream',
    summary: 'The running message from its start, or what comes `after` a position; 204 when nothing is running',
    access: { ...threadReader, ...later },
    query: chatStreamQuery,
    answers: { 200: stream, 204: null },
  },
  aiSdkMessages: {
    route: 'GET /v1/ui/ai-sdk/{agent}/{chatId}',
    summary: 'The messages of a chat, for `useChat({messages})`',
    access: { ...threadReader, ...later },
    answers: { 200: chatHistory },
  },
  aiSdkStop: {
    route: 'POST /v1/ui/ai-sdk/{agent}/{chatId}/stop',
    summary: 'Stop the answer; to close the stream stops nothing',
    access: { ...talker, ...later },
    answers: { 202: accepted },
  },
});
