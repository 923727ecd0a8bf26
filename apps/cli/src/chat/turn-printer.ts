// Prints a thread's stream as a conversation: answers as they are streamed, tool calls as they happen.
//
// Invariants:
//   P2. Everything from elsewhere is cleaned before it is shown. R100
import { isEvent, type Retrying, type StreamFrame, textOf, type ThreadEvent } from '@dormouse/client';
import { cleanLine, cleanText } from '../clean-text.ts';
import { describeEvent, resultText } from '../show-event.ts';
import type { Terminal } from '../terminal.ts';
import { createAnswerPrinter } from './answer-printer.ts';
import type { ChatScreen } from './chat-screen.ts';

export interface TurnPrinter {
  print(frame: StreamFrame): void;
  /** The message that this user has just typed and need not see again. */
  said(text: string): void;
}

const argumentCharactersMax = 120;

/** An unsolicited event that is worth a line. */
const isArrival = (event: ThreadEvent): boolean =>
  isEvent(event, 'subscription_event_received') ||
  isEvent(event, 'child_spawned') ||
  isEvent(event, 'child_reported') ||
  isEvent(event, 'schedule_came');

export function createTurnPrinter(screen: ChatScreen, style: Terminal['style'], columns: number): TurnPrinter {
  const own: string[] = [];
  const operations = new Map<string, string>();
  const answers = createAnswerPrinter(screen);
  let waited = '';
  const note = (text: string): void => screen.line(style('dim', cleanLine(text, columns - 1)));
  const warn = (text: string): void => screen.line(style('yellow', `! ${cleanText(text)}`));

  function happened(event: ThreadEvent): void {
    if (isEvent(event, 'completion_recorded')) {
      answers.complete(event.completion_id, event.message.text);
      return event.interrupted ? note('[interrupted]') : undefined;
    }
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

  /** One line for each problem of a completion, not for each attempt. */
  function waits({ completion_id, code, detail, host }: Retrying): void {
    const text = `the model${host === null ? '' : ` at ${host}`} does not answer: ${detail} (${code}). It is asked again until it does, or its time is over.`;
    const name = `${completion_id} ${text}`;
    if (name === waited) return;
    waited = name;
    warn(cleanLine(text));
  }

  function heard(text: string): void {
    const at = own.indexOf(text);
    if (at >= 0) own.splice(at, 1);
    else screen.line(style('bold', `> ${cleanText(text)}`)); // another user's message, or an earlier one
  }

  function remark(event: ThreadEvent): void {
    if (isEvent(event, 'message_queued')) return note('· queued; the agent gets it when the calls are done');
    if (isEvent(event, 'completion_failed'))
      return warn(`the model failed: ${event.detail} (${event.code}). Type /retry to ask again.`);
    if (isEvent(event, 'message_refused') || isEvent(event, 'request_refused'))
      return warn(`refused: ${describeEvent(event)}`);
    if (isEvent(event, 'toolset_rejected'))
      return warn(`tools of ${event.tool_server} are not available: ${event.problems.join('; ')}`);
    if (isEvent(event, 'toolset_changed')) return note(`· tools of ${describeEvent(event)}`);
    if (isEvent(event, 'budget_exceeded')) return warn(`stopped: ${describeEvent(event)}`);
    if (isEvent(event, 'choice_settled')) return note(`· ${event.decision ?? 'answered'} by ${event.by}`);
    if (isArrival(event)) return note(`· ${describeEvent(event)}`);
    if (isEvent(event, 'callback_rejected')) return warn(`a tool sent something unusable: ${event.reason}`);
    if (isEvent(event, 'thread_closed')) return note(`· the thread was closed by ${event.by}`);
  }

  return {
    said: (text) => own.push(text),
    print(frame) {
      if (frame.frame === 'delta') answers.speak(frame.delta);
      else if (frame.frame === 'retrying') waits(frame.retrying);
      else if (frame.frame === 'event') happened(frame.event);
      else if (frame.frame === 'oauth') screen.line(`${style('cyan', 'Please sign in:')} ${cleanLine(frame.authUrl)}`);
    },
  };
}
