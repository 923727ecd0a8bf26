// `dormouse messages` and `dormouse send`: the conversation as users read it, and sending one more message.
import { ask, type Client, everyItem, isEvent, type Message, type Schemas, type ThreadEvent } from '@dormouse/client';
import { text as readAll } from 'node:stream/consumers';
import type { Command } from 'commander';
import { cleanLine, cleanText } from '../../clean-text.ts';
import { answer, type CliContext, progress } from '../../context.ts';
import { exitCodes, wrongUsage } from '../../exit-code.ts';
import { durationOf } from '../../given-values.ts';
import type { RunCommand } from '../../command.ts';

const waitStandard = '5m';
/** A thread may wait for these for months: its turn has ended. */
const restful = new Set(['approval', 'choice', 'oauth', 'timer']);

export function addMessageCommands(program: Command, run: RunCommand): void {
  program.command('messages <thread>').description('the conversation as people read it').action(run(showMessages));
  program
    .command('send <thread> <text>')
    .description('say something in a thread; "-" reads the text from stdin')
    .option('-w, --wait [duration]', `wait for the answer and print it (default ${waitStandard})`)
    .action(run(send));
}

async function showMessages(context: CliContext, thread: string): Promise<void> {
  const { api } = await context.connect();
  const path = { id: thread };
  for await (const message of everyItem((cursor) =>
    ask(api.GET('/v1/threads/{id}/messages', { params: { path, query: { cursor } } })),
  ))
    answer(context, describeMessage(context, message), message);
}

function describeMessage(context: CliContext, message: Message): string {
  const { style } = context.terminal;
  const body = cleanText(message.text);
  if (message.role === 'user') return style('bold', `> ${body}`);
  if (message.role === 'assistant')
    return message.interrupted === true ? `${body} ${style('dim', '[interrupted]')}` : body;
  return style(
    'dim',
    `· ${cleanLine(message.operation ?? message.role)}${message.outcome === undefined ? '' : ` (${message.outcome})`}: ${cleanLine(body, 200)}`,
  );
}

async function send(
  context: CliContext,
  thread: string,
  given: string,
  { wait }: { readonly wait?: string | true },
): Promise<number | void> {
  const text = given === '-' ? await readAll(context.terminal.stdin) : given;
  if (text.trim() === '') throw wrongUsage('There is nothing to send.');
  const client = await context.connect();
  if (wait === undefined) {
    const accepted = await ask(
      client.api.POST('/v1/threads/{id}/messages', { params: { path: { id: thread } }, body: { text } }),
    );
    return answer(context, accepted.id, accepted);
  }
  const complaint = `--wait takes a duration such as 30s or 5m, not "${String(wait)}".`;
  const waitMs = durationOf(wait === true ? waitStandard : wait, complaint);
  const outcome = await sendAndWait(client, thread, text, AbortSignal.timeout(waitMs));
  return showOutcome(context, thread, outcome);
}

/** The course of one message's turn so far. */
export interface TurnOutcome {
  readonly id: string;
  readonly position: number;
  readonly status: string;
  readonly text: string | null;
  readonly error: { readonly code: string; readonly detail: string } | null;
  readonly waiting_on: readonly Schemas['WaitingOn'][];
  /** False when the time was up first. */
  readonly ended: boolean;
}

/** Sends one message and waits until its turn has ended or waits for a user, or until the signal aborts. */
export async function sendAndWait(
  client: Client,
  thread: string,
  text: string,
  signal: AbortSignal,
): Promise<TurnOutcome> {
  const path = { id: thread };
  const { position } = await ask(client.api.GET('/v1/threads/{id}', { params: { path } }));
  const { id } = await ask(client.api.POST('/v1/threads/{id}/messages', { params: { path }, body: { text } }));
  let turn: TurnOutcome = { id, position, status: 'thinking', text: null, error: null, waiting_on: [], ended: false };
  let known = false;
  try {
    for await (const frame of client.follow(thread, { after: position, signal })) {
      if (frame.frame === 'end') return { ...turn, ended: true };
      if (frame.frame !== 'event') continue;
      known ||= concerns(frame.event, id); // earlier events say nothing about our turn
      if (!known) continue;
      turn = { ...turn, ...consequence(frame.event), position: frame.event.position };
      if (!goesOn.has(frame.event.type)) {
        const { ended, ...now } = await rest(client, thread, turn.position);
        turn = { ...turn, ...now, ended: turn.ended || ended };
      }
      if (turn.ended) return turn;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return turn;
}

/** These are never the last event of a thread at rest. */
const goesOn = new Set(['completion_requested', 'tool_call_requested']);

/** Reads the thread itself: the stream's status frame may have come before the events that explain it. */
async function rest(
  client: Client,
  thread: string,
  seen: number,
): Promise<Pick<TurnOutcome, 'status' | 'waiting_on' | 'ended'>> {
  const now = await ask(client.api.GET('/v1/threads/{id}', { params: { path: { id: thread } } }));
  const ended = now.position <= seen && isAtRest(now.status, now.waiting_on); // an unread event may be the answer
  return { status: now.status, waiting_on: now.waiting_on, ended };
}

function concerns(event: ThreadEvent, messageId: string): boolean {
  return (
    (isEvent(event, 'message_accepted') || isEvent(event, 'message_queued') || isEvent(event, 'message_refused')) &&
    event.message_id === messageId
  );
}

function consequence(event: ThreadEvent): Partial<TurnOutcome> {
  if (isEvent(event, 'completion_recorded') && event.final) return { text: event.message.text, error: null };
  if (isEvent(event, 'completion_failed')) return { error: { code: event.code, detail: event.detail } };
  if (isEvent(event, 'budget_exceeded'))
    return { error: { code: 'BUDGET_EXCEEDED', detail: `${event.budget}: ${event.used} of ${event.limit}` } };
  if (isEvent(event, 'message_refused')) return { error: { code: event.code, detail: event.detail }, ended: true };
  return {};
}

export const isAtRest = (status: string, waitingOn: readonly Schemas['WaitingOn'][]): boolean =>
  status === 'idle' ||
  status === 'closed' ||
  status === 'parked' ||
  (status === 'waiting' && waitingOn.every((wait) => restful.has(wait.kind)));

export function showOutcome(context: CliContext, thread: string, turn: TurnOutcome): number {
  if (context.json) answer(context, '', turn);
  else if (turn.text !== null) answer(context, turn.text, turn);
  if (turn.error !== null) {
    if (!context.json)
      context.terminal.err(cleanText(`dormouse: the turn failed: ${turn.error.code}: ${turn.error.detail}`));
    return exitCodes.notInOrder;
  }
  if (turn.ended && turn.waiting_on.length === 0) return exitCodes.done;
  progress(context, describeWait(context, thread, turn));
  return exitCodes.waiting;
}

function describeWait({ hint }: CliContext, thread: string, { ended, waiting_on: waitingOn }: TurnOutcome): string {
  const waits = waitingOn.map((wait) => `${wait.kind} ${wait.operation ?? ''} (${wait.id})`).join(', ');
  if (!ended) {
    const why = waits === '' ? '' : `; it waits for ${waits}`;
    return `No answer yet${why}. The turn goes on; look with:\n  ${hint(`why ${thread}`)}\n  ${hint(`messages ${thread}`)}`;
  }
  const [only] = waitingOn;
  if (waitingOn.length === 1 && only?.kind === 'timer') return `It sleeps until ${only.deadline ?? 'its timer fires'}.`;
  const answers = waitingOn.flatMap(({ kind, id }) => {
    if (kind === 'approval') return ['allow', 'deny'].map((decision) => `answer ${thread} ${id} ${decision}`);
    return kind === 'choice' ? [`choices ${thread}`, `answer ${thread} ${id} 0`] : [];
  });
  return [`It waits for a person: ${waits}`, ...answers.map((command) => `  ${hint(command)}`)].join('\n');
}
