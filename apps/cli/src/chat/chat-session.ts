// A conversation at a terminal: follows the thread, sends what is typed, asks for approvals.
//
// Invariants:
//   S1. Ctrl-C stops the turn when one runs; it leaves when none does, or when it is pressed again.
//   S2. Questions are asked one after the other, each once; one that was settled elsewhere closes by itself.
//   S3. Leaving changes nothing in the thread: it continues without the CLI.
//   S4. A question is shown as answered when the runtime accepted the answer. Otherwise the question is asked again: at
//       once, or when the connection is back, if that is lost.
import {
  ApiProblem,
  ask,
  type Choice,
  type Client,
  ConnectionProblem,
  isEvent,
  type StreamFrame,
  type Thread,
} from '@dormouse/client';
import { cli } from '../command-name.ts';
import { cleanLine } from '../clean-text.ts';
import { isAtRest } from '../commands/messages.ts';
import { sayOnce } from '../context.ts';
import { explain } from '../explain.ts';
import type { Terminal } from '../terminal.ts';
import { type ChatScreen, createChatScreen } from './chat-screen.ts';
import { watchToolsets } from './toolset-watch.ts';
import { createTurnPrinter, type TurnPrinter } from './turn-printer.ts';

const patienceMs = 800;
const help =
  'Commands: /retry ask the model again · /refresh load the tools anew · /interrupt stop the turn · /close end the thread · /quit leave (Ctrl-D). Everything else is said to the agent.';
const decisions = [
  { value: 'allow', label: 'Allow once' },
  { value: 'allow_for_thread', label: 'Allow in this thread' },
  { value: 'deny', label: 'Deny' },
] as const;

interface Session {
  readonly client: Client;
  readonly thread: string;
  readonly screen: ChatScreen;
  readonly printer: TurnPrinter;
  readonly terminal: Terminal;
  readonly leave: AbortController;
  readonly choices: Map<string, AbortController>;
  slowCallTimer: NodeJS.Timeout | undefined;
  running: boolean;
  interrupting: boolean;
  /** The stream is lost and is being opened again. */
  away: boolean;
  asking: Promise<void>;
}

/** Resolves when the user leaves or the thread is closed. */
export async function chatAtTerminal(client: Client, opened: Thread, terminal: Terminal): Promise<void> {
  const { id: thread, position: after } = opened;
  const leave = new AbortController();
  const screen = createChatScreen(terminal, {
    onLine: (text) => void typed(session, text),
    onInterrupt: () => void interrupted(session),
    onEnd: () => leave.abort(),
  });
  const printer = createTurnPrinter(screen, terminal.style, terminal.columns);
  const session: Session = {
    client,
    thread,
    screen,
    printer,
    terminal,
    leave,
    choices: new Map(),
    slowCallTimer: undefined,
    running: false,
    interrupting: false,
    away: false,
    asking: Promise.resolve(),
  };
  screen.ask();
  const watch = watchToolsets(client, opened.toolsets, (line) =>
    screen.line(terminal.style('yellow', cleanLine(`! ${line}`))),
  );
  try {
    const say = sayOnce((reason) =>
      screen.line(terminal.style('dim', `· connection lost (${cleanLine(reason)}), trying again`)),
    );
    const onReconnect = (reason: string): void => {
      session.away = true;
      say(reason);
    };
    for await (const frame of client.follow(thread, { after, signal: leave.signal, onReconnect })) {
      session.away = false;
      watch.see(frame);
      printer.print(frame);
      react(session, frame);
      if (frame.frame === 'end') break;
    }
  } catch (error) {
    if (!leave.signal.aborted) throw error;
  } finally {
    watch.stop();
    clearTimeout(session.slowCallTimer);
    for (const open of session.choices.values()) open.abort();
    await session.asking;
    screen.close();
  }
}

function react(session: Session, frame: StreamFrame): void {
  if (frame.frame === 'status') showStatus(session, frame.status, frame.waitingOn);
  if (frame.frame === 'choice' && !session.choices.has(frame.choice.id)) offer(session, frame.choice);
  if (frame.frame === 'event' && isEvent(frame.event, 'choice_settled'))
    session.choices.get(frame.event.choice_id)?.abort();
}

/** (S2) */
function offer(session: Session, choice: Choice): void {
  const open = new AbortController();
  session.choices.set(choice.id, open);
  session.asking = session.asking.then(() => askPerson(session, choice, open.signal));
}

/** The input line appears when it is the user's turn, or when a call takes longer than a user likes to wait. */
function showStatus(
  session: Session,
  status: string,
  waitingOn: Extract<StreamFrame, { frame: 'status' }>['waitingOn'],
): void {
  clearTimeout(session.slowCallTimer);
  session.running = !isAtRest(status, waitingOn);
  if (!session.running) {
    session.interrupting = false;
    return session.screen.ask();
  }
  const calls = waitingOn.filter((wait) => wait.kind === 'tool_call' || wait.kind === 'timer');
  if (calls.length === 0) return;
  session.slowCallTimer = setTimeout(() => {
    const names = calls.map((wait) => cleanLine(wait.operation ?? wait.kind)).join(', ');
    session.screen.line(session.terminal.style('dim', `· asleep until ${names} wakes it; you may go on typing`));
    session.screen.ask();
  }, patienceMs);
}

/** A decision for an approval, an index for a question of a tool. */
async function askPerson(session: Session, choice: Choice, settled: AbortSignal): Promise<void> {
  if (settled.aborted) return;
  const options =
    choice.kind === 'approval'
      ? decisions
      : choice.choices.map((label, index) => ({ value: String(index), label: cleanLine(label) }));
  const chosen = await session.screen.choose<string>(questionOf(choice), options, settled);
  if (settled.aborted) return;
  if (chosen === null)
    return session.screen.line(
      session.terminal.style(
        'dim',
        `· left open; answer later with: ${cli} answer ${session.thread} ${choice.id} ${choice.kind === 'approval' ? 'allow' : choice.default}`,
      ),
    );
  const failure = await attempt(session, () =>
    ask(
      session.client.api.POST('/v1/threads/{id}/choices/{chc}', {
        params: { path: { id: session.thread, chc: choice.id } },
        body: bodyOf(choice, chosen),
      }),
    ),
  );
  const label = options.find(({ value }) => value === chosen)?.label ?? chosen;
  if (failure === null)
    session.screen.line(session.terminal.style('dim', `· ${cleanLine(choice.prompt)} → ${label}`)); // (S4)
  else if (!settled.aborted) askAgain(session, choice, failure);
}

/** (S4) The reopened stream shows an open question again. A refusal is final as long as the stream shows nothing. */
function askAgain(session: Session, choice: Choice, failure: unknown): void {
  session.choices.delete(choice.id);
  const isRefused = failure instanceof ApiProblem && failure.status < 500 && failure.status !== 429;
  if (!session.away && !isRefused) offer(session, choice);
}

function questionOf(choice: Choice): string {
  const given = choice.arguments === undefined ? [] : [cleanLine(JSON.stringify(choice.arguments), 500)];
  const warnings = (choice.warnings ?? []).map((warning) => `! ${cleanLine(warning)}`);
  return [cleanLine(choice.prompt), ...given, ...warnings].join('\n');
}

const bodyOf = (choice: Choice, chosen: string) =>
  choice.kind === 'approval'
    ? { decision: chosen as (typeof decisions)[number]['value'] }
    : { selected: Number(chosen) };

async function typed(session: Session, line: string): Promise<void> {
  const text = line.trim();
  if (text === '') return session.screen.ask();
  if (text.startsWith('/')) return command(session, text);
  session.printer.said(text);
  session.running = true;
  const params = { path: { id: session.thread } };
  await attempt(session, () => ask(session.client.api.POST('/v1/threads/{id}/messages', { params, body: { text } })));
}

async function command(session: Session, text: string): Promise<void> {
  switch (text) {
    case '/quit':
    case '/exit':
      return session.leave.abort();
    case '/retry':
    case '/close':
    case '/interrupt':
      await request(session, text === '/retry' ? 'retry' : text === '/close' ? 'close' : 'interrupt');
      return session.screen.ask();
    case '/refresh': {
      const params = { path: { id: session.thread } };
      await attempt(session, () => ask(session.client.api.POST('/v1/threads/{id}/toolsets/refresh', { params })));
      return session.screen.ask();
    }
    default:
      session.screen.line(session.terminal.style('dim', help));
      return session.screen.ask();
  }
}

/** (S1) */
async function interrupted(session: Session): Promise<void> {
  if (!session.running || session.interrupting) return session.leave.abort();
  session.interrupting = true;
  session.screen.line(session.terminal.style('dim', '· stopping the turn; press Ctrl-C again to leave'));
  await request(session, 'interrupt');
}

async function request(session: Session, verb: 'interrupt' | 'retry' | 'close'): Promise<void> {
  const params = { path: { id: session.thread } };
  await attempt(session, () => ask(session.client.api.POST(`/v1/threads/{id}/${verb}`, { params })));
}

/** A failed request is printed and returned, not thrown; the stream decides whether the conversation can go on. */
async function attempt(session: Session, send: () => Promise<unknown>): Promise<unknown> {
  try {
    await send();
    return null;
  } catch (error) {
    const { message, next } = explain(error);
    const hint = error instanceof ConnectionProblem || next === null ? '' : ` ${next}`;
    session.screen.line(session.terminal.style('red', `! ${cleanLine(`${message}${hint}`)}`));
    session.screen.ask();
    return error;
  }
}
