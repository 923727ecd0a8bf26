// Prints a thread's stream as a conversation: answers as they are streamed, tool calls as they happen.
//
// Invariants:
//   P2. Everything from elsewhere is cleaned before it is shown. R100
import { isEvent, type Retrying, type StreamFrame, textOf, type ThreadEvent } from '@dormouse/client';
import { cleanLine, cleanText } from '../clean-text.ts';
import { describeEvent, resultText } from '../show-event.ts';
import type { Terminal } from '../terminal.ts';
import { createAnswerPrinter } from './answer-printer.ts';
import type { CallNames } from '../call-names.ts';
import type { ChatScreen } from './chat-screen.ts';
import { viewText } from './view-text.ts';

export interface TurnPrinter {
  print(frame: StreamFrame): void;
  /** The message that this user has just typed and need not see again. */
  said(text: string): void;
  /** The next tools that are loaded are worth a line: a user asked for them. */
  showTools(): void;
}

const argumentCharactersMax = 120;

/** An unsolicited event that is worth a line. */
const isArrival = (event: ThreadEvent): boolean =>
  isEvent(event, 'subscription_event_received') ||
  isEvent(event, 'child_spawned') ||
  isEvent(event, 'child_reported') ||
  isEvent(event, 'external_event_received') ||
  isEvent(event, 'schedule_came');

export function createTurnPrinter(
  screen: ChatScreen,
  names: Pick<CallNames, 'of'>,
  style: Terminal['style'],
  columns: number,
): TurnPrinter {
  const own: string[] = [];
  const views = new Map<string, string>();
  const answers = createAnswerPrinter(screen);
  let waited = '';
  let showsTools = false;
  const note = (text: string): void => screen.line(style('dim', cleanLine(text, columns - 1)));
  const warn = (text: string): void => screen.line(style('yellow', `! ${cleanText(text)}`));

  function happened(event: ThreadEvent): void {
    if (isEvent(event, 'completion_recorded')) {
      answers.complete(event.completion_id, event.message.text);
      return event.interrupted ? note('[interrupted]') : undefined;
    }
    if (isEvent(event, 'message_accepted')) return heard(textOf(event.content));
    if (isEvent(event, 'tool_call_requested'))
      return note(`· ${event.operation} ${cleanLine(JSON.stringify(event.arguments), argumentCharactersMax)}`);
    if (isEvent(event, 'tool_call_settled')) {
      const outcome = event.outcome === 'result' ? '' : `${event.outcome}: `;
      return note(`· ${names.of(event.tool_call_id)} → ${outcome}${resultText(event)}`);
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
    if (isEvent(event, 'message_refused')) return warn(`refused: ${describeEvent(event)}`);
    if (isEvent(event, 'request_refused')) return warn(`${event.detail} (${event.request}: ${event.code})`);
    if (isEvent(event, 'toolsets_loaded') && showsTools) return loaded(event.toolsets);
    if (isEvent(event, 'toolset_changed')) return note(`· tools of ${describeEvent(event)}`);
    if (isEvent(event, 'toolset_rejected'))
      return warn(`tools of ${event.tool_server} are not available: ${event.problems.join('; ')}`);
    if (isEvent(event, 'budget_exceeded')) return warn(`stopped: ${describeEvent(event)}`);
    if (isEvent(event, 'choice_settled')) return note(`· ${event.decision ?? 'answered'} by ${event.by}`);
    if (isArrival(event)) return note(`· ${describeEvent(event, names)}`);
    if (isEvent(event, 'callback_rejected'))
      return warn(`${names.of(event.tool_call_id)} sent something unusable: ${event.reason}`);
    if (isEvent(event, 'thread_closed')) return note(`· the thread was closed by ${event.by}`);
  }

  function loaded(toolsets: readonly { readonly tool_server: string; readonly tools: readonly string[] }[]): void {
    showsTools = false;
    const counts = toolsets.map(({ tool_server: server, tools }) => `${tools.length} of ${server}`);
    note(`· tools: ${counts.join(', ') || 'none'}`);
  }

  /** Current views are sent again after each connection: only a change is shown. */
  function shows(viewType: string, content: unknown): void {
    const text = viewText(content);
    if ((views.get(viewType) ?? '') === text) return;
    views.set(viewType, text);
    const name = cleanLine(viewType, columns - 20);
    if (text === '') return note(`· the view ${name} is empty now`);
    screen.line(`${style('cyan', `view ${name}`)}\n${text}`);
  }

  return {
    said: (text) => own.push(text),
    showTools: () => void (showsTools = true),
    print(frame) {
      if (frame.frame === 'delta') answers.speak(frame.delta);
      else if (frame.frame === 'retrying') waits(frame.retrying);
      else if (frame.frame === 'event') happened(frame.event);
      else if (frame.frame === 'view') shows(frame.viewType, frame.content);
      else if (frame.frame === 'oauth') screen.line(`${style('cyan', 'Please sign in:')} ${cleanLine(frame.authUrl)}`);
    },
  };
}
