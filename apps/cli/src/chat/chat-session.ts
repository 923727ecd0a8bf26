// A conversation at a terminal: follows the thread, sends what is typed, asks for approvals.
//
// Invariants:
//   S1. Ctrl-C stops the turn when one runs; it leaves when none does, or when it is pressed again.
//   S2. Questions are asked one after the other, each once; one that was settled elsewhere closes by itself.
//   S3. Leaving changes nothing in the thread: it continues without the CLI.
//   S4. A question is shown as answered when the runtime accepted the answer. Otherwise the question is asked again: at
//       once, or when the connection is back, if that is lost.
//   S5. A line that begins with a slash is a command, known or not; it is never said to the agent.
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
import { type CallNames, createCallNames } from '../call-names.ts';
import { cleanLine } from '../clean-text.ts';
import { answerOf } from '../commands/threads/choices.ts';
import { isAtRest } from '../commands/threads/messages.ts';
import { type CliContext, sayOnce } from '../context.ts';
import { explain } from '../explain.ts';
import type { Hint } from '../hint.ts';
import type { Terminal } from '../terminal.ts';
import { type ChatScreen, createChatScreen } from './chat-screen.ts';
import { watchToolsets } from './toolset-watch.ts';
import { createTurnPrinter, type TurnPrinter } from './turn-printer.ts';

const patienceMs = 800;
const help = [
  '/answer [ANSWER]  answer what was left open: allow, deny, allow_for_thread, dismiss, the index of a choice; or be asked again',
  '/tools            the tools that the agent has in this thread',
  '/refresh          fetch the tools of the tool servers anew',
  '/retry            ask the model again after a failure',
  '/interrupt        stop the turn (Ctrl-C)',
  '/close            end the thread for good',
  '/quit             leave; the thread stays (Ctrl-D)',
  'Everything else is said to the agent; a space in front also says what begins with a slash.',
].join('\n');
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
  readonly names: CallNames;
  readonly terminal: Terminal;
  readonly hint: Hint;
  readonly leave: AbortController;
  readonly choices: Map<string, OpenChoice>;
  slowCallTimer: NodeJS.Timeout | undefined;
  running: boolean;
  interrupting: boolean;
  /** The stream is lost and is being opened again. */
  away: boolean;
  asking: Promise<void>;
}

/** A question that is not settled, asked or left open. */
interface OpenChoice {
  readonly choice: Choice;
  /** Aborted when it is settled, or when the conversation ends. */
  readonly settled: AbortController;
  isLeft: boolean;
}

/** Resolves when the user leaves or the thread is closed. */
export async function chatAtTerminal(
  client: Client,
  opened: Thread,
  { terminal, hint }: Pick<CliContext, 'terminal' | 'hint'>,
): Promise<void> {
  const { id: thread, position: after } = opened;
  const leave = new AbortController();
  const screen = createChatScreen(terminal, {
    onLine: (text) => void typed(session, text),
    onInterrupt: () => void interrupted(session),
    onEnd: () => leave.abort(),
  });
  const names = createCallNames(client, thread);
  const printer = createTurnPrinter(screen, names, terminal.style, terminal.columns);
  const session: Session = {
    client,
    thread,
    screen,
    printer,
    names,
    terminal,
    hint,
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
      if (frame.frame === 'event') await names.learn(frame.event);
      printer.print(frame);
      react(session, frame);
      if (frame.frame === 'end') break;
    }
  } catch (error) {
    if (!leave.signal.aborted) throw error;
  } finally {
    watch.stop();
    clearTimeout(session.slowCallTimer);
    for (const { settled } of session.choices.values()) settled.abort();
    await session.asking;
    screen.close();
  }
}

function react(session: Session, frame: StreamFrame): void {
  if (frame.frame === 'status') showStatus(session, frame.status, frame.waitingOn);
  if (frame.frame === 'choice' && !session.choices.has(frame.choice.id)) offer(session, frame.choice);
  if (frame.frame === 'event' && isEvent(frame.event, 'choice_settled')) forget(session, frame.event.choice_id);
}

function forget(session: Session, choiceId: string): void {
  session.choices.get(choiceId)?.settled.abort();
  session.choices.delete(choiceId);
}

const note = ({ screen, terminal }: Session, line: string): void => screen.line(terminal.style('dim', line));

/** (S2) */
function offer(session: Session, choice: Choice): void {
  const open: OpenChoice = { choice, settled: new AbortController(), isLeft: false };
  session.choices.set(choice.id, open);
  session.asking = session.asking.then(() => askPerson(session, open));
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
    note(session, `· asleep until ${names} wakes it; you may go on typing`);
    session.screen.ask();
  }, patienceMs);
}

/** A decision for an approval, an index for a question of a tool. */
async function askPerson(session: Session, open: OpenChoice): Promise<void> {
  const { choice } = open;
  const settled = open.settled.signal;
  if (settled.aborted) return;
  const options =
    choice.kind === 'approval'
      ? decisions
      : choice.choices.map((label, index) => ({ value: String(index), label: cleanLine(label) }));
  const chosen = await session.screen.choose<string>(questionOf(choice), options, settled);
  if (settled.aborted) return;
  if (chosen === null) {
    open.isLeft = true;
    const given = choice.kind === 'approval' ? 'allow' : choice.default;
    const elsewhere = session.hint(`answer ${session.thread} ${choice.id} ${given}`);
    const words = `· left open; /answer asks again. Elsewhere: ${elsewhere}`;
    note(session, words);
    return session.screen.ask();
  }
  const failure = await settle(session, choice, () => bodyOf(choice, chosen));
  const label = options.find(({ value }) => value === chosen)?.label ?? chosen;
  if (failure === null)
    note(session, `· ${cleanLine(choice.prompt)} → ${label}`); // (S4)
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
  if (line.startsWith('/') && !text.includes('\n')) return command(session, text); // (S5)
  session.printer.said(text);
  session.running = true;
  const params = { path: { id: session.thread } };
  await attempt(session, () => ask(session.client.api.POST('/v1/threads/{id}/messages', { params, body: { text } })));
}

async function command(session: Session, text: string): Promise<void> {
  const [name = '', ...words] = text.split(/\s+/);
  switch (name) {
    case '/quit':
    case '/exit':
      return session.leave.abort();
    case '/retry':
    case '/close':
    case '/interrupt':
      await request(session, name === '/retry' ? 'retry' : name === '/close' ? 'close' : 'interrupt');
      return session.screen.ask();
    case '/answer':
      return answerOpen(session, words[0]);
    case '/tools':
      await attempt(session, async () => note(session, await toolsOf(session)));
      return session.screen.ask();
    case '/refresh':
      return refresh(session);
    case '/help':
      note(session, help);
      return session.screen.ask();
    default: // (S5)
      session.screen.line(session.terminal.style('yellow', `! there is no command ${cleanLine(name, 40)}`));
      note(session, help);
      return session.screen.ask();
  }
}

/** The first question that was left open is answered; without an answer all of them are asked again. */
async function answerOpen(session: Session, given: string | undefined): Promise<void> {
  const left = [...session.choices.values()].filter(({ isLeft }) => isLeft);
  const [first] = left;
  if (first === undefined) {
    note(session, '· nothing waits for an answer');
    return session.screen.ask();
  }
  if (given === undefined) return left.forEach(({ choice }) => offer(session, choice));
  const failure = await settle(session, first.choice, () => answerOf(given));
  if (failure === null) note(session, `· ${cleanLine(first.choice.prompt)} → ${cleanLine(given)}`); // (S4)
  session.screen.ask();
}

/** Null when the answer was accepted, else the failure. */
function settle(session: Session, { id }: Choice, answer: () => ReturnType<typeof answerOf>): Promise<unknown> {
  const params = { path: { id: session.thread, chc: id } };
  return attempt(session, () =>
    ask(session.client.api.POST('/v1/threads/{id}/choices/{chc}', { params, body: answer() })),
  );
}

async function toolsOf({ client, thread }: Session): Promise<string> {
  const { toolsets } = await ask(client.api.GET('/v1/threads/{id}', { params: { path: { id: thread } } }));
  const lines = toolsets.map(({ tool_server: server, tools }) => cleanLine(`${server}: ${tools.join(', ') || 'none'}`));
  return lines.join('\n') || 'No tools were loaded yet: that happens before the first answer.';
}

async function refresh(session: Session): Promise<void> {
  const params = { path: { id: session.thread } };
  const failure = await attempt(session, () =>
    ask(session.client.api.POST('/v1/threads/{id}/toolsets/refresh', { params })),
  );
  if (failure === null) {
    session.printer.showTools();
    note(session, '· asking the tool servers for their tools');
  }
  session.screen.ask();
}

/** (S1) */
async function interrupted(session: Session): Promise<void> {
  if (!session.running || session.interrupting) return session.leave.abort();
  session.interrupting = true;
  note(session, '· stopping the turn; press Ctrl-C again to leave');
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
    const { message, next } = explain(error, session.hint);
    const hint = error instanceof ConnectionProblem || next === null ? '' : ` ${next}`;
    session.screen.line(session.terminal.style('red', `! ${cleanLine(`${message}${hint}`)}`));
    session.screen.ask();
    return error;
  }
}
