/**
 * Owns: questions that wait for a user, and the route where their answers arrive.
 *
 * C1. `response_url` is issued here, random, and good for one answer; a repeated POST is answered with success. T43
 * C2. A question ends in a valid index, or in an error for the handler: bad answer, no answer, call over. T43
 * C3. A question is stored with its message, an answer before it is acknowledged. A call that runs again after a
 *     restart finds them by their order: an answered question is not asked again, an open one is not sent again. T26
 */
import { randomBytes } from 'node:crypto';
import { parseChoiceAnswer } from '@dormouse/protocol';
import type { TakenCall } from '../call/call-address.ts';
import type { Store } from '../store/store.ts';
import type { Choice, Question } from '../define/tool.ts';
import { ToolError } from '../define/tool-output.ts';

const timeoutMsDefault = 7_200_000;
const timerMsMax = 2 ** 31 - 1;

export const choicePath = '/choice/';

/** The n-th question of a call, from 0. */
export interface QuestionPlace {
  readonly call: Pick<TakenCall, 'key' | 'id'>;
  readonly ordinal: number;
}

export interface Choices {
  /** `send` gets the path of the answer, once. @throws ToolError (C2), RangeError for an unaskable question */
  readonly ask: (
    place: QuestionPlace,
    question: Question,
    signal: AbortSignal,
    send: (path: string) => void,
  ) => Promise<Choice>;
  /** Whether there is a question at this path. */
  readonly isAsked: (path: string) => boolean;
  /** The status for the POST of an answer. */
  readonly answer: (path: string, json: unknown) => number;
  readonly sweep: () => void;
}

/** `selected` is undefined while there is no answer, and null for an answer that is none of the choices. */
interface Stored {
  /** The text of the question: a different text in its place is a different question. */
  readonly asked: string;
  readonly selected?: number | null;
}

export function createChoices(store: Store): Choices {
  const { vault, questions } = store;
  const waiting = new Map<string, (selected: number | null) => void>(); // by digest of the path
  const digestOf = (path: string): string => vault.digest(`question ${path}`);

  /** The question in this place, sent now unless an earlier run has sent it. (C3) */
  function place(
    { call, ordinal }: QuestionPlace,
    question: Question,
    send: (path: string) => void,
  ): { readonly key: string; readonly stored: Stored; readonly expires: number } {
    const { prompt, choices, default: fallback, timeoutMs = timeoutMsDefault } = question;
    const asked = vault.digest(JSON.stringify([prompt, choices, fallback]));
    const row = questions.at(call.key, ordinal);
    const known = row === undefined ? undefined : (vault.open('question', row.sealed) as Stored);
    if (row !== undefined && known?.asked === asked) return { key: row.path, stored: known, expires: row.expires };
    const path = `${choicePath}${randomBytes(24).toString('base64url')}`; // (C1)
    const [key, expires] = [digestOf(path), Math.round(Date.now() + timeoutMs)];
    store.transaction(() => {
      const sealed = vault.seal('question', { asked } satisfies Stored);
      questions.place({ path: key, key: call.key, call: call.id, ordinal, sealed, expires });
      send(path);
    });
    return { key, stored: { asked }, expires };
  }

  async function answerTo(key: string, expires: number, signal: AbortSignal): Promise<number | null> {
    let timer: NodeJS.Timeout | undefined;
    let stop = (): void => {};
    try {
      return await new Promise<number | null>((resolve, reject) => {
        const check = (): void => {
          const leftMs = expires - Date.now();
          if (leftMs > 0) timer = setTimeout(check, Math.min(leftMs, timerMsMax));
          else reject(new ToolError('the question was not answered in time. Call again to ask it again.'));
        };
        check();
        stop = () => reject(new ToolError('the call ended before its question was answered.'));
        waiting.set(key, resolve);
        signal.addEventListener('abort', stop, { once: true });
        if (signal.aborted) stop();
      });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      waiting.delete(key);
    }
  }

  return {
    async ask(at, question, signal, send) {
      checkQuestion(question);
      signal.throwIfAborted();
      const { key, stored, expires } = place(at, question, send);
      const selected = stored.selected === undefined ? await answerTo(key, expires, signal) : stored.selected;
      const label = selected === null ? undefined : question.choices[selected];
      if (selected === null || label === undefined)
        throw new ToolError('the answer was none of the choices. Call again to ask again.'); // (C2)
      return { index: selected, label };
    },
    isAsked: (path) => questions.get(digestOf(path)) !== undefined,
    answer(path, json) {
      const key = digestOf(path);
      const row = questions.get(key);
      if (row === undefined) return 404;
      const parsed = parseChoiceAnswer(json);
      if (parsed.ok && parsed.answer.id !== row.call) return 403;
      const stored = vault.open('question', row.sealed) as Stored;
      if (stored.selected !== undefined) return 200; // (C1)
      const selected = parsed.ok && typeof parsed.answer.selected === 'number' ? parsed.answer.selected : null;
      questions.answer(key, vault.seal('question', { ...stored, selected } satisfies Stored)); // (C3)
      waiting.get(key)?.(selected);
      return 200;
    },
    sweep: () => questions.sweep(Date.now()),
  };
}

/** Defects that `encodeCallback` would find too, worded for the tool's author. */
function checkQuestion({ choices, default: fallback }: Question): void {
  if (choices.length === 0) throw new RangeError('a question needs at least one choice');
  if (choices[fallback] === undefined) throw new RangeError('the default must be the index of a choice');
}
