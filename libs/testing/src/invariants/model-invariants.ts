// What the model is shown, and which of its answers enter history. I-14, I-15
import {
  type Content,
  emptyTail,
  extendTranscript,
  inherit,
  type ModelMessage,
  type TranscriptTail,
} from '@dormouse/thread';
import type { SeenPrompt } from './history.ts';
import { type Reading, type ReadingThread, stableText, threadName } from './reading.ts';

/** I-14: one answer per completion, and only of the current one; a superseded one leaves at most its streamed part. */
export function oneAnswerPerCompletion({ threads }: Reading): readonly string[] {
  return threads.flatMap((thread) => {
    const bad: string[] = [];
    const ended = new Set<string>();
    let current: string | null = null;
    for (const { event } of thread.events) {
      if (event.type === 'CompletionRequested') {
        if (current !== null) bad.push(`${thread.name}: ${event.completionId} was requested while ${current} ran`);
        current = event.completionId;
      }
      if (event.type !== 'CompletionRecorded' && event.type !== 'CompletionFailed') continue;
      if (ended.has(event.completionId)) bad.push(`${thread.name}: ${event.completionId} ended twice`);
      else if (event.completionId !== current)
        bad.push(`${thread.name}: ${event.completionId} entered history and was not current`);
      ended.add(event.completionId);
      if (event.completionId === current) current = null;
    }
    return bad;
  });
}

/** I-15: every prompt is the transcript of a prefix of the log, legal, and every earlier prompt is a prefix of it. */
export function promptsArePrefixes({ history, byName, threads }: Reading): readonly string[] {
  const prompts = threads.map((thread) => {
    const inherited = inheritedBy(byName, thread);
    const { messages, lengths } = transcriptOf(thread);
    return { thread, messages: [...inherited, ...messages], lengths: shifted(lengths, inherited.length) };
  });
  const bad = prompts.flatMap(({ thread, messages }) =>
    illegalities(messages).map((what) => `${thread.name}: ${what}`),
  );
  const byThread = new Map(prompts.map(({ thread, ...rest }) => [thread.name, rest]));
  for (const prompt of history.prompts) {
    const name = threadName(prompt.key);
    const known = byThread.get(name);
    const length = known?.lengths.get(prompt.completionId);
    if (known === undefined || length === undefined || !byName.has(name))
      bad.push(`${name}: the model was asked for ${prompt.completionId}, which is not in the log`);
    else if (!isTranscript(prompt, known.messages.slice(0, length)))
      bad.push(`${name}: the prompt of ${prompt.completionId} is not the transcript of its prefix`);
  }
  return bad;
}

interface Transcript {
  readonly messages: readonly ModelMessage[];
  /** Completion to the number of messages it was shown. */
  readonly lengths: ReadonlyMap<string, number>;
  readonly tail: TranscriptTail;
}

const shifted = (lengths: ReadonlyMap<string, number>, by: number): ReadonlyMap<string, number> =>
  new Map([...lengths].map(([id, length]) => [id, length + by]));

/** I-18: a child begins with its parent's transcript up to where it was spawned. */
function inheritedBy(byName: Reading['byName'], { key, events }: ReadingThread): readonly ModelMessage[] {
  const opening = events[0]?.event;
  if (opening?.type !== 'ThreadOpened' || opening.parent === undefined) return [];
  const { threadId, position } = opening.parent;
  const parent = byName.get(threadName({ tenant: key.tenant, thread: threadId }));
  if (parent === undefined) return [];
  const before = { ...parent, events: parent.events.slice(0, position) };
  const { messages, tail } = transcriptOf(before);
  return [...inheritedBy(byName, parent), ...messages, ...inherit(tail, 'child')];
}

function transcriptOf({ events }: ReadingThread): Transcript {
  const messages: ModelMessage[] = [];
  const lengths = new Map<string, number>();
  let tail = emptyTail;
  try {
    for (const { event } of events) {
      const step = extendTranscript(tail, event);
      tail = step.tail;
      messages.push(...step.messages);
      if (event.type === 'CompletionRequested') lengths.set(event.completionId, messages.length);
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error; // a broken log: the prompts before it are judged
  }
  return { messages, lengths, tail };
}

const isTranscript = (prompt: SeenPrompt, expected: readonly ModelMessage[]): boolean =>
  prompt.messages.length === expected.length &&
  stableText(asReferences(prompt.messages, expected)) === stableText(expected);

/** A payload that the log keeps by reference reaches the model whole: it is compared by its preview. */
function asReferences(shown: readonly ModelMessage[], logged: readonly ModelMessage[]): readonly ModelMessage[] {
  return shown.map((message, index) => {
    const original = logged[index];
    if (message.role === 'user' && original?.role === 'user')
      return { ...message, content: itemsAsReferences(message.content, original.content) };
    if (message.role !== 'tool' || original?.role !== 'tool') return message;
    return {
      ...message,
      results: message.results.map((result, at) => ({
        ...result,
        content: itemsAsReferences(result.content, original.results[at]?.content ?? []),
      })),
    };
  });
}

function itemsAsReferences(shown: Content, logged: Content): Content {
  return shown.map((item, index) => {
    const original = logged[index];
    if (original === undefined || !('blob' in original) || original.blob === undefined) return item;
    if (original.type === 'image') return item.type === 'image' ? original : item;
    return 'text' in item && item.text.startsWith(original.preview) ? original : item;
  });
}

/** Prompts that no provider would accept: a call without its one result, a result without its call. R70 */
export function illegalities(messages: readonly ModelMessage[]): readonly string[] {
  const bad: string[] = [];
  const answered = new Set<string>();
  let due: readonly string[] = [];
  for (const message of messages) {
    if (message.role !== 'tool') {
      if (due.length > 0) bad.push(`${due.join(', ')} has no result where it is due`);
      due = message.role === 'assistant' ? message.toolCalls.map((call) => call.toolCallId) : [];
      continue;
    }
    const results = message.results.map((result) => result.toolCallId);
    if (results.join() !== due.join())
      bad.push(`results of ${results.join(', ')} where those of ${due.join(', ') || 'nothing'} are due`);
    for (const id of results) {
      if (answered.has(id)) bad.push(`${id} has two results`);
      answered.add(id);
    }
    due = [];
  }
  if (due.length > 0) bad.push(`${due.join(', ')} dangles at the end`);
  return bad;
}
