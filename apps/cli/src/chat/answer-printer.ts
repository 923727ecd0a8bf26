// Prints an answer while it is streamed, and completes it when it is committed.
//
// Invariants:
//   P1. The screen shows, after an answer, exactly what was committed: parts that were shown before are completed, a
//       new attempt starts over, and a part that comes late is not shown again.
import type { Delta } from '@dormouse/client';
import type { ChatScreen } from './chat-screen.ts';

export interface AnswerPrinter {
  speak(delta: Delta): void;
  complete(completionId: string, text: string): void;
}

interface Spoken {
  readonly completionId: string;
  readonly attempt: number;
  readonly text: string;
}

export function createAnswerPrinter(screen: ChatScreen): AnswerPrinter {
  let spoken: Spoken | null = null;
  let completed = '';
  return {
    speak(delta) {
      if (delta.kind !== 'text' || delta.completion_id === completed) return;
      const same = spoken?.completionId === delta.completion_id && spoken.attempt === delta.attempt;
      if (!same) screen.endStream();
      const shown = same ? (spoken?.text ?? '') : '';
      const fresh = delta.text.slice(Math.max(0, shown.length - delta.offset));
      spoken = { completionId: delta.completion_id, attempt: delta.attempt, text: shown + fresh };
      if (fresh !== '') screen.stream(fresh);
    },
    complete(completionId, text) {
      const shown = spoken?.completionId === completionId ? spoken.text : '';
      if (shown !== '' && !text.startsWith(shown)) screen.endStream();
      const rest = text.startsWith(shown) ? text.slice(shown.length) : text;
      if (rest !== '') screen.stream(rest);
      screen.endStream();
      [spoken, completed] = [null, completionId];
    },
  };
}
