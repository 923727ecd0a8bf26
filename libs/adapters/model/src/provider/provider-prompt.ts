// Converts the runtime's transcript into a prompt of the AI SDK that strict providers accept, too.
//
// Invariants:
//   Q1. Results stand directly behind the assistant message with their calls, in its order.
//   Q2. A model without image input never gets an image: a placeholder replaces it, text items stay. R45
//   Q3. Neighbouring user messages become one, and plain text stays a plain string on the wire: this also satisfies
//       chat templates that demand alternation, and servers that accept only strings.
//   Q4. No message is empty: strict providers refuse one that holds white space only.
import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
} from '@ai-sdk/provider';
import { ModelFault, type ModelRequest } from '@dormouse/ports';
import {
  type Content,
  type ContentItem,
  type ImageItem,
  type ModelMessage,
  type ModelToolResult,
  type TextReference,
  unreachable,
} from '@dormouse/thread';
import type { Compatibility } from '../openai-compatible/compatibility.ts';
import type { CallIds } from './provider-call-ids.ts';
import type { ToolNames } from './provider-tool-names.ts';

export interface PromptSettings {
  readonly names: ToolNames;
  readonly ids: CallIds;
  readonly compatibility: Compatibility;
  readonly blob: (sha256: string) => Promise<{ readonly bytes: Uint8Array; readonly mediaType: string } | null>;
}

type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart;

interface Writer extends PromptSettings {
  readonly images: boolean;
  readonly prompt: LanguageModelV4Prompt;
}

export async function providerPrompt(
  request: Pick<ModelRequest, 'instructions' | 'model'>,
  messages: readonly ModelMessage[],
  settings: PromptSettings,
): Promise<LanguageModelV4Prompt> {
  const writer: Writer = { ...settings, images: request.model.images, prompt: [] };
  if (request.instructions.trim() !== '') writeInstructions(writer, request.instructions);
  for (const message of messages) await write(writer, message);
  return settings.compatibility.user_first ? userFirst(writer.prompt) : writer.prompt;
}

function userFirst(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const first = prompt.findIndex(({ role }) => role !== 'system');
  if (first < 0 || prompt[first]?.role === 'user') return prompt;
  return prompt.toSpliced(first, 0, {
    role: 'user',
    content: [{ type: 'text', text: '[An event begins the conversation.]' }],
  });
}

function writeInstructions(writer: Writer, instructions: string): void {
  if (writer.compatibility.system_as_user) addUser(writer, [{ type: 'text', text: instructions }]);
  else writer.prompt.push({ role: 'system', content: instructions });
}

async function write(writer: Writer, message: ModelMessage): Promise<void> {
  switch (message.role) {
    case 'user':
      return addUser(writer, await userParts(writer, message.content));
    case 'assistant':
      return addAssistant(writer, message);
    case 'tool':
      return addResults(writer, message.results);
    default:
      return unreachable(message);
  }
}

/** (Q3) */
function addUser(writer: Writer, parts: readonly UserPart[]): void {
  const last = writer.prompt.at(-1);
  const earlier = last?.role === 'user' ? last.content : [];
  const content = joinTexts([...earlier, ...parts]);
  if (content.length === 0) return;
  if (last?.role === 'user') writer.prompt.pop();
  writer.prompt.push({ role: 'user', content });
}

function joinTexts(parts: readonly UserPart[]): UserPart[] {
  const joined: UserPart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.type === 'text' && last?.type === 'text')
      joined[joined.length - 1] = { type: 'text', text: `${last.text}\n\n${part.text}` };
    else joined.push(part);
  }
  return joined;
}

function addAssistant(writer: Writer, message: Extract<ModelMessage, { role: 'assistant' }>): void {
  type AssistantParts = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];
  const content: AssistantParts = [];
  if (message.reasoning !== undefined && writer.compatibility.reasoning_history)
    content.push({ type: 'reasoning', text: message.reasoning });
  if (message.text.trim() !== '') content.push({ type: 'text', text: message.text });
  for (const call of message.toolCalls) {
    content.push({
      type: 'tool-call',
      toolCallId: writer.ids.onWire(call.toolCallId),
      toolName: writer.names.onWire(call.operation),
      input: call.arguments,
    });
  }
  if (content.some((part) => part.type !== 'reasoning')) writer.prompt.push({ role: 'assistant', content }); // (Q4)
}

async function addResults(writer: Writer, results: readonly ModelToolResult[]): Promise<void> {
  const images: UserPart[] = [];
  const content: Extract<LanguageModelV4Message, { role: 'tool' }>['content'] = [];
  for (const result of results) {
    content.push({
      type: 'tool-result',
      toolCallId: writer.ids.onWire(result.toolCallId),
      toolName: writer.names.onWire(result.operation),
      output: { type: 'text', value: await resultText(writer, result) },
    });
    images.push(...(await resultImages(writer, result)));
  }
  writer.prompt.push({ role: 'tool', content }); // (Q1)
  addUser(writer, images);
}

/** Tool messages of this wire format carry text only: images follow as a user message that names their call. */
async function resultImages(writer: Writer, result: ModelToolResult): Promise<readonly UserPart[]> {
  if (!writer.images) return [];
  const images = result.content.filter((item) => item.type === 'image');
  if (images.length === 0) return [];
  const files = await Promise.all(images.map((image) => imagePart(writer, image)));
  return [
    {
      type: 'text',
      text: `[${images.length === 1 ? 'The image' : `The ${images.length} images`} that ${result.operation} returned]`,
    },
    ...files,
  ];
}

async function resultText(writer: Writer, result: ModelToolResult): Promise<string> {
  const texts = await Promise.all(
    result.content.map((item) =>
      itemText(writer, item, writer.images ? 'follows in the next message' : 'not shown: this model takes no images'),
    ),
  );
  const said = texts.join('\n');
  return said === '' ? silence(result.outcome) : said;
}

/** The text for the model about a call that ended, or goes on, without a text of its own. */
function silence(outcome: ModelToolResult['outcome']): string {
  switch (outcome) {
    case 'result':
      return 'Done. The tool returned nothing.';
    case 'error':
      return 'Error: the tool failed and gave no reason.';
    case 'interrupted':
      return 'Error: interrupted before the tool answered.';
    case 'timed_out':
      return 'Error: the tool did not answer in time.';
    case 'denied':
      return 'Error: a person did not allow this call; it was not made.';
    case 'outcome_unknown':
      return 'Error: it is unknown whether this call took effect; it may have.';
    case 'still_running':
      return 'Still running. The result will follow.';
    default:
      return unreachable(outcome);
  }
}

async function userParts(writer: Writer, content: Content): Promise<readonly UserPart[]> {
  return Promise.all(
    content.map(async (item): Promise<UserPart> => {
      if (item.type === 'image' && writer.images) return imagePart(writer, item);
      const text = await itemText(writer, item, 'not shown: this model takes no images');
      return { type: 'text', text: text.trim() === '' ? '[an empty message]' : text }; // (Q4)
    }),
  );
}

async function itemText(writer: Writer, item: ContentItem, imageNote: string): Promise<string> {
  if (item.type === 'image') return `[image ${item.mediaType}, ${imageNote}]`; // (Q2)
  return 'text' in item ? item.text : referencedText(writer, item);
}

async function referencedText(writer: Writer, item: TextReference): Promise<string> {
  return new TextDecoder().decode((await payload(writer, item.blob)).bytes);
}

async function imagePart(writer: Writer, item: ImageItem): Promise<LanguageModelV4FilePart> {
  const data =
    item.data ??
    (item.blob === undefined ? '' : Buffer.from((await payload(writer, item.blob)).bytes).toString('base64'));
  return { type: 'file', mediaType: item.mediaType, data: { type: 'data', data } };
}

async function payload(writer: Writer, sha256: string): Promise<{ readonly bytes: Uint8Array }> {
  const blob = await writer.blob(sha256);
  if (blob !== null) return blob;
  throw new ModelFault({
    code: 'MODEL_FAILED',
    detail: `the payload ${sha256} that the history refers to is not in the blob store`,
    retryable: true,
  });
}
