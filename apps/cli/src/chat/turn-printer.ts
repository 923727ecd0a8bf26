// Puts a thread's stream on the screen as a conversation: answers as they are spoken, tool calls as they happen.
//
// Invariants:
//   P1. What stands on the screen after an answer is what was committed: pieces that were shown before are completed, and
//       a new attempt begins anew.
//   P2. Everything from elsewhere is cleaned before it is shown. R100
import { type Delta, isEvent, type StreamFrame, textOf, type ThreadEvent } from '@dormouse/client';
import { cleanLine, cleanText } from '../clean-text.ts';
import { describeEvent, resultText } from '../show-event.ts';
import type { Terminal } from '../terminal.ts';
import type { ChatScreen } from './chat-screen.ts';

export interface TurnPrinter {
  print(frame: StreamFrame): void;
  /** What this person has just typed and need not see again. */
  said(text: string): void;
}

interface Spoken {
  readonly completionId: string;
  readonly attempt: number;
  readonly text: string;
}

const argumentCharactersMax = 120;

export function createTurnPrinter(screen: ChatScreen, style: Terminal['style'], columns: number): TurnPrinter {
  const own: string[] = [];
  const operations = new Map<string, string>();
  let spoken: Spoken | null = null;
  const note = (text: string): void => screen.line(style('dim', cleanLine(text, columns - 1)));
  const warn = (text: string): void => screen.line(style('yellow', `! ${cleanText(text)}`));

  function speak(delta: Delta): void {
    if (delta.kind !== 'text') return;
    const same = spoken?.completionId === delta.completion_id && spoken.attempt === delta.attempt;
    if (!same) {
      screen.endStream(); // (P1)
      spoken = { completionId: delta.completion_id, attempt: delta.attempt, text: '' };
    }
    const shown = spoken?.text ?? '';
    const fresh = delta.text.slice(Math.max(0, shown.length - delta.offset));
    if (fresh === '') return;
    spoken = { completionId: delta.completion_id, attempt: delta.attempt, text: shown + fresh };
    screen.stream(fresh);
  }

  function completed(completionId: string, text: string, interrupted: boolean): void {
    const shown = spoken?.completionId === completionId ? spoken.text : '';
    if (shown !== '' && !text.startsWith(shown)) screen.endStream();
    const rest = text.startsWith(shown) ? text.slice(shown.length) : text;
    if (rest !== '') screen.stream(rest);
    screen.endStream();
    spoken = null;
    if (interrupted) note('[interrupted]');
  }

  function happened(event: ThreadEvent): void {
    if (isEvent(event, 'completion_recorded'))
      return completed(event.completion_id, event.message.text, event.interrupted);
    if (isEvent(event, 'message_accepted')) return heard(textOf(event.content));
    if (isEvent(event, 'tool_call_requested')) {
      operations.set(event.tool_call_id, event.operation);
      return note(`· ${event.operation} ${cleanLine(JSON.stringify(event.arguments), argumentCharactersMax)}`);
    }
    if (isEvent(event, 'tool_call_settled')) {
      const name = operations.get(event.tool_call_id) ?? event.tool_call_id;
      operations.delete(event.tool_call_id);
      return note(`· ${name} → ${event.outcome === 'result' ? '' : `${event.outcome}: `}${resultText(event)}`);
    }
    remark(event);
  }

  function heard(text: string): void {
    const at = own.indexOf(text);
    if (at >= 0) own.splice(at, 1);
    else screen.line(style('bold', `> ${cleanText(text)}`)); // somebody else's, or from before
  }

  function remark(event: ThreadEvent): void {
    if (isEvent(event, 'message_queued')) return note('· queued; the agent gets it when the calls are done');
    if (isEvent(event, 'completion_failed'))
      return warn(`the model failed: ${event.detail} (${event.code}). Type /retry to ask again.`);
    if (isEvent(event, 'message_refused') || isEvent(event, 'request_refused'))
      return warn(`refused: ${describeEvent(event)}`);
    if (isEvent(event, 'toolset_rejected'))
      return warn(`tools of ${event.tool_server} are not available: ${event.problems.join('; ')}`);
    if (isEvent(event, 'budget_exceeded')) return warn(`stopped: ${describeEvent(event)}`);
    if (isEvent(event, 'choice_settled')) return note(`· ${event.decision ?? 'answered'} by ${event.by}`);
    if (isEvent(event, 'callback_rejected')) return warn(`a tool sent something unusable: ${event.reason}`);
    if (isEvent(event, 'thread_closed')) return note(`· the thread was closed by ${event.by}`);
  }

  return {
    said: (text) => own.push(text),
    print(frame) {
      if (frame.frame === 'delta') speak(frame.delta);
      else if (frame.frame === 'event') happened(frame.event);
      else if (frame.frame === 'oauth') screen.line(`${style('cyan', 'Please sign in:')} ${cleanLine(frame.authUrl)}`);
    },
  };
}
