// What was said, as attributes of spans, where an operator has asked for it: JSON in the shapes that the GenAI
// conventions publish (gen-ai-input-messages.json, gen-ai-output-messages.json).
//
// Invariants:
//   C1. Nothing of this file is used unless contents may be asked for (content-switch.ts).
//   C2. An attribute is whole JSON of at most `charactersMax`: of a longer prompt the oldest messages are left out, and
//       a value that is too long by itself is left out.
import type { Content, ContentItem, ModelMessage } from '@dormouse/thread';

/** Messages of a prompt that are looked at, the newest. */
export const messagesMax = 64;
const charactersMax = 131_072;

type Part = Readonly<Record<string, unknown>> & { readonly type: string };

export function inputMessages(messages: readonly ModelMessage[]): string {
  const texts: string[] = [];
  let characters = 2;
  for (const message of messages.toReversed()) {
    const text = JSON.stringify({ role: message.role, parts: partsOf(message) });
    characters += text.length + 1;
    if (characters > charactersMax) break; // (C2)
    texts.unshift(text);
  }
  return `[${texts.join(',')}]`;
}

export interface RecordedAnswer {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly operation: string; readonly arguments: string }[];
  readonly finishReason: string;
}

export function outputMessages({ text, reasoning, calls, finishReason }: RecordedAnswer): string | undefined {
  const parts: Part[] = [
    ...(reasoning === '' ? [] : [{ type: 'reasoning', content: reasoning }]),
    ...(text === '' ? [] : [{ type: 'text', content: text }]),
    ...calls.map((call) => ({ type: 'tool_call', name: call.operation, arguments: parsedOr(call.arguments) })),
  ];
  return bounded([{ role: 'assistant', parts, finish_reason: finishReasons[finishReason] ?? finishReason }]);
}

/** (C2) */
export function bounded(value: unknown): string | undefined {
  const text = JSON.stringify(value);
  return text.length <= charactersMax ? text : undefined;
}

/** The published name of a finish reason that ours differs from. */
const finishReasons: Readonly<Record<string, string>> = { tool_calls: 'tool_call' };

function partsOf(message: ModelMessage): readonly Part[] {
  switch (message.role) {
    case 'user':
      return message.content.map(partOf);
    case 'assistant':
      return [
        ...(message.reasoning === undefined ? [] : [{ type: 'reasoning', content: message.reasoning }]),
        ...(message.text === '' ? [] : [{ type: 'text', content: message.text }]),
        ...message.toolCalls.map((call) => ({
          ...{ type: 'tool_call', id: call.toolCallId, name: call.operation, arguments: call.arguments },
        })),
      ];
    case 'tool':
      return message.results.map((result) => ({
        ...{ type: 'tool_call_response', id: result.toolCallId, response: textsOf(result.content) },
      }));
  }
}

function partOf(item: ContentItem): Part {
  if (item.type === 'image')
    return item.data === undefined
      ? { type: 'uri', modality: 'image', mime_type: item.mediaType, uri: `blob:${item.blob ?? ''}` }
      : { type: 'blob', modality: 'image', mime_type: item.mediaType, content: item.data };
  return { type: 'text', content: 'text' in item ? item.text : item.preview };
}

/** The texts of some content; images by their type. */
export const textsOf = (content: Content): readonly string[] =>
  content.map((item) => (item.type === 'image' ? item.mediaType : 'text' in item ? item.text : item.preview));

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // as the model wrote it
  }
}
