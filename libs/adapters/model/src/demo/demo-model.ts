// The model that needs no key and no network: a few rules that really call the offered tools, so that a first
// conversation shows the whole runtime at work. It understands nothing; it matches words.
//
// Invariants:
//   D1. It looks at the last few messages only: its cost does not grow with the conversation.
//   D2. It is a function of its request: asked again, it says and calls the same.
//   D3. After tool results it answers and calls nothing more, so a turn always ends. A report, a timer or a schedule is
//       noted and calls nothing at all.
//   D6. Its input is what it answers, and its instructions: older messages are not counted.
import type { ModelPart, ModelRequest, ToolDefinition } from '@dormouse/ports';
import { isBuiltInToolName } from '@dormouse/protocol';
import { type ModelMessage, type ModelToolResult, plainText } from '@dormouse/thread';
import { approximateTokens } from '../approximate-tokens.ts';
import { sentenceFor } from './demo-answer.ts';
import { chooseCalls, type DemoCall } from './demo-calls.ts';

const messagesSeenMax = 8;
const wordsPerChunk = 4;

export async function* completeDemo(request: ModelRequest): AsyncIterable<ModelPart> {
  const seen = await request.prompt.last(messagesSeenMax); // (D1)
  request.signal.throwIfAborted();
  for (const part of partsAfter(seen, request)) {
    if (part.part === 'text') yield* chunks(part.text).map((text) => ({ part: 'text', text }) as const);
    else yield part;
  }
}

function partsAfter(seen: readonly ModelMessage[], request: ModelRequest): readonly ModelPart[] {
  const instructed = approximateTokens(request.instructions.length);
  const last = seen.at(-1);
  if (last?.role === 'tool') return say(sentenceFor(last.results), instructed + tokensOf(last.results)); // (D3, D6)
  const asked = trailingUserText(seen);
  const event = isNote(asked) ? eventBefore(seen) : [];
  const inputTokens = instructed + approximateTokens(asked.length) + tokensOf(event); // (D6)
  if (isNote(asked)) return say(event.length > 0 ? sentenceFor(event) : `Noted: ${asked}`, inputTokens);
  const calls = chooseCalls(asked, request.tools);
  if (calls.length === 0) return say(whatItCanDo(request.tools), inputTokens);
  return ask(calls, request.completionId, inputTokens);
}

function ask(calls: readonly DemoCall[], completionId: string, inputTokens: number): readonly ModelPart[] {
  const parts: ModelPart[] = [];
  let characters = 0;
  for (const [index, call] of calls.entries()) {
    const text = JSON.stringify(call.arguments);
    characters += text.length;
    const providerCallId = `demo_${completionId}_${index}`;
    parts.push(
      { part: 'tool_input', index, text },
      { part: 'tool_call', providerCallId, operation: call.operation, arguments: text },
    );
  }
  parts.push(finish('tool_calls', inputTokens, characters));
  return parts;
}

const say = (text: string, inputTokens: number): readonly ModelPart[] => [
  { part: 'text', text },
  finish('stop', inputTokens, text.length),
];

const finish = (reason: 'stop' | 'tool_calls', inputTokens: number, characters: number): ModelPart => ({
  part: 'finish',
  reason,
  usage: { inputTokens, outputTokens: approximateTokens(characters) },
});

/** Pieces of a few words each; together exactly `text`. */
function chunks(text: string): readonly string[] {
  const words = text.match(/\s*\S+\s*/g) ?? [];
  const pieces: string[] = [];
  for (let at = 0; at < words.length; at += wordsPerChunk) pieces.push(words.slice(at, at + wordsPerChunk).join(''));
  return pieces;
}

/** The user messages since the last message of the model, as one text. */
function trailingUserText(seen: readonly ModelMessage[]): string {
  const texts: string[] = [];
  for (const message of seen.toReversed()) {
    if (message.role !== 'user') break;
    texts.unshift(plainText(message.content));
  }
  return texts.join('\n');
}

/** A message of the runtime itself: a report, a timer, a schedule. It asks nothing, so no tool is called. */
const isNote = (text: string): boolean => /^\[[a-z]/.test(text);

/** The event that came with a note, whose content is what counts; empty when there was none. */
function eventBefore(seen: readonly ModelMessage[]): readonly ModelToolResult[] {
  const before = seen.findLast((message) => message.role !== 'user');
  const isEvent = before?.role === 'tool' && seen.at(seen.indexOf(before) - 1)?.role === 'assistant';
  return isEvent ? before.results.filter(({ toolCallId }) => toolCallId.includes('_event_')) : [];
}

const tokensOf = (results: readonly ModelToolResult[]): number =>
  results.reduce((sum, { content }) => sum + approximateTokens(plainText(content).length), 0);

/** Everything that it is offered: what is not listed here would never be found. */
function whatItCanDo(offered: readonly ToolDefinition[]): string {
  const tools = offered.filter(({ name }) => !isBuiltInToolName(name));
  const own = offered.filter(({ name }) => isBuiltInToolName(name));
  const ofServers =
    tools.length === 0
      ? 'This agent has no tools of a tool server: give it one, or choose another model provider.'
      : `I can use:\n${linesOf(tools)}`;
  const ofRuntime = own.length === 0 ? '' : `\nWhat every agent can do:\n${linesOf(own)}`;
  return `I am the demo model: I only match words to tools. ${ofServers}${ofRuntime}\nTry naming one of them, with a place, a number or a "quoted text" where it needs one.`;
}

const linesOf = (tools: readonly ToolDefinition[]): string =>
  tools.map((tool) => `- ${tool.name}: ${firstSentence(tool.description)}`).join('\n');

const firstSentence = (description: string): string =>
  /^.*?[.!?](?=\s|$)/s.exec(description.trim())?.[0] ?? description.trim();
