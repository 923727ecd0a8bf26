// The AI SDK's own client, unmodified, for one chat of a system.
import { Chat } from '@ai-sdk/react';
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from 'ai';
import { eventually } from '../e2e/conversation.ts';

export interface ChatAt {
  readonly url: string;
  readonly key: string;
}

let chats = 0;

export const freshChatId = (): string => `chat-${process.pid}-${Date.now()}-${++chats}`;

/** `messages`: what a page that opens the chat again begins with. */
export function chatOf(at: ChatAt, agent: string, id = freshChatId(), messages: UIMessage[] = []): Chat<UIMessage> {
  return new Chat({
    id,
    messages,
    transport: new DefaultChatTransport({
      api: `${at.url}/v1/ui/ai-sdk/${agent}`,
      headers: { authorization: `Bearer ${at.key}` },
    }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
}

/** Waits until the client has read its stream to the end. */
export const untilReady = (chat: Chat<UIMessage>): Promise<UIMessage> =>
  eventually(async () => (chat.status === 'ready' ? chat.lastMessage : undefined));

type Part = { readonly type: string } & Readonly<Record<string, unknown>>;

/** The parts of a message without what only says how they came. */
export const partsOf = (message: UIMessage | undefined): readonly Part[] =>
  (message?.parts ?? []).map((part) => part as Part).filter(({ type }) => type !== 'step-start');

export const textOf = (message: UIMessage | undefined): string =>
  partsOf(message)
    .filter(({ type }) => type === 'text')
    .map(({ text }) => String(text))
    .join('|');

/** The approval that the first part of a message asks for. */
export function approvalIn(message: UIMessage | undefined): string {
  const approval = partsOf(message)[0]?.['approval'] as { readonly id: string } | undefined;
  if (approval === undefined) throw new Error('no approval is asked for');
  return approval.id;
}
