// `dormouse chat`: a conversation. At a terminal with everything as it happens; otherwise one message per line of stdin
// and one answer each, so that it works in a pipe.
import { createInterface } from 'node:readline';
import { isCancel, select } from '@clack/prompts';
import { ask, type Client, everyItem, type Message, type Thread } from '@dormouse/client';
import type { Command } from 'commander';
import { chatAtTerminal } from '../../chat/chat-session.ts';
import { cleanLine, cleanText } from '../../clean-text.ts';
import type { RunCommand } from '../../command.ts';
import { type CliContext, progress } from '../../context.ts';
import { CliFailure, exitCodes } from '../../exit-code.ts';
import { sendAndWait, showOutcome } from './messages.ts';
import { onlyAgent, openThread, severalAgents } from './threads.ts';

const earlierMessagesMax = 6;
const turnMsMax = 3_600_000;

interface ChatFlags {
  readonly agent?: string;
  readonly title?: string;
}

export function addChatCommand(program: Command, run: RunCommand): void {
  program
    .command('chat [agent-or-thread]')
    .description('talk with an agent in a new thread, or go on in an old one; ids of threads begin with thr_')
    .option('--agent <name>', 'the agent of a new thread')
    .option('--title <title>', 'a title for a new thread')
    .action(run(chat));
}

async function chat(context: CliContext, named: string | undefined, flags: ChatFlags): Promise<number | void> {
  const id = named?.startsWith('thr_') === true ? named : undefined;
  const agent = flags.agent ?? (id === undefined ? named : undefined);
  const client = await context.connect();
  const isNew = id === undefined;
  const canAsk = context.terminal.interactive && !context.json;
  const thread = isNew
    ? await openThread(
        client,
        agent ?? (await onlyAgent(context, client, canAsk ? chooseAgent : severalAgents)),
        flags.title,
      )
    : await ask(client.api.GET('/v1/threads/{id}', { params: { path: { id } } }));
  if (thread.status === 'closed')
    throw new CliFailure(exitCodes.failed, `${thread.id} is closed.`, `Open a new one with: ${context.hint('chat')}`);
  if (!canAsk) return chatInPipe(context, client, thread.id);
  context.terminal.out(
    context.terminal.style(
      'dim',
      `${thread.id} · ${cleanLine(thread.agent.name)} v${thread.agent.version} · /help for commands, Ctrl-C to leave`,
    ),
  );
  if (!isNew) await showEarlier(context, client, thread);
  await chatAtTerminal(client, thread, context);
  progress(context, `It stays where it is. Go on with: ${context.hint(`chat ${thread.id}`)}`);
}

async function chooseAgent(names: readonly string[]): Promise<string> {
  const chosen = await select<string>({
    message: 'Which agent?',
    options: names.map((name) => ({ value: name, label: cleanLine(name) })),
  });
  if (isCancel(chosen)) throw new CliFailure(exitCodes.interrupted, 'No agent was chosen.');
  return chosen;
}

async function showEarlier(context: CliContext, client: Client, thread: Thread): Promise<void> {
  const path = { id: thread.id };
  const messages: Message[] = [];
  for await (const message of everyItem((cursor) =>
    ask(client.api.GET('/v1/threads/{id}/messages', { params: { path, query: { cursor } } })),
  )) {
    if (message.role === 'user' || message.role === 'assistant') messages.push(message);
    if (messages.length > earlierMessagesMax) messages.shift();
  }
  for (const { role, text } of messages)
    context.terminal.out(role === 'user' ? context.terminal.style('bold', `> ${cleanText(text)}`) : cleanText(text));
}

/** Stops at the first turn that fails or waits for a user: the messages that follow were written for its answer. */
async function chatInPipe(context: CliContext, client: Client, thread: string): Promise<number> {
  progress(context, thread);
  for await (const line of createInterface({ input: context.terminal.stdin })) {
    if (line.trim() === '') continue;
    const outcome = await sendAndWait(client, thread, line, AbortSignal.timeout(turnMsMax));
    const exitCode = showOutcome(context, thread, outcome);
    if (exitCode !== exitCodes.done) return exitCode;
  }
  return exitCodes.done;
}
