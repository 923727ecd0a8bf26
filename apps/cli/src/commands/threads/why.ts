// `dormouse why`: what a thread waits for, in one sentence; for an idle thread, what may wake it.
import { ApiProblem, ask, type Client, type Schemas, type Thread } from '@dormouse/client';
import type { Command } from 'commander';
import { cleanLine } from '../../clean-text.ts';
import type { RunCommand } from '../../command.ts';
import { answer, type CliContext } from '../../context.ts';

/** Reasons are bounded where they are stored, errors where they are made. */
const reasonCharactersMax = 300;
const childrenShownMax = 3;

export function addWhyCommand(program: Command, run: RunCommand): void {
  program.command('why <thread>').description('what a thread waits for, in one sentence').action(run(why));
}

async function why(context: CliContext, id: string): Promise<void> {
  const client = await context.connect();
  const thread = await ask(client.api.GET('/v1/threads/{id}', { params: { path: { id } } }));
  const children = thread.status === 'idle' ? await openChildren(client, id) : [];
  const parked = thread.status === 'parked' ? await parkedReason(client, id) : null;
  const { status, waiting, waiting_on, subscriptions, problems, last_error } = thread;
  answer(context, words(context, thread, children, parked), {
    ...{ id: thread.id, status, waiting, waiting_on },
    ...{ open_children: children, subscriptions, parked_reason: parked, problems, last_error },
  });
}

/** Newest first. */
async function openChildren({ api }: Client, thread: string): Promise<readonly string[]> {
  const params = { path: { id: thread }, query: { limit: 200 } };
  const { data } = await ask(api.GET('/v1/threads/{id}/children', { params }));
  return data.filter(({ status }) => status !== 'closed').map(({ id }) => id);
}

/** For operators: null for a key that is not one's, and for a thread that goes on meanwhile. */
async function parkedReason({ api }: Client, thread: string): Promise<string | null> {
  try {
    const found: Schemas['ParkedDetails'] = await ask(api.GET('/v1/parked/{thread}', { params: { path: { thread } } }));
    return found.reason;
  } catch (error) {
    if (error instanceof ApiProblem && (error.status === 403 || error.status === 404)) return null;
    throw error;
  }
}

function words({ hint }: CliContext, thread: Thread, children: readonly string[], parked: string | null): string {
  const lines = [cleanLine(thread.waiting ?? restWords(thread, children))];
  if (parked !== null) lines.push(`reason    ${cleanLine(parked, reasonCharactersMax)}`);
  if (thread.waiting_on.some(({ kind }) => kind === 'approval' || kind === 'choice'))
    lines.push(`next      ${hint(`choices ${thread.id}`)}`);
  if (thread.status === 'idle' && thread.last_error !== null) {
    const { code, detail } = thread.last_error;
    lines.push(`error     ${code}: ${cleanLine(detail, reasonCharactersMax)}`);
    lines.push(`next      ${hint(`threads retry ${thread.id}`)}`);
  }
  return lines.join('\n');
}

function restWords({ status, subscriptions }: Thread, children: readonly string[]): string {
  if (status !== 'idle') return `${status}: it waits for nothing`;
  const wakers = ['a message', ...subscriptionWords(subscriptions.length), ...childWords(children)];
  return `idle: it goes on with ${wakers.join(', or ')}`;
}

const subscriptionWords = (count: number): readonly string[] =>
  count === 0 ? [] : [count === 1 ? 'an event of its subscription' : `an event of its ${count} subscriptions`];

function childWords(children: readonly string[]): readonly string[] {
  if (children.length === 0) return [];
  const more = children.length - childrenShownMax;
  const named = children.slice(0, childrenShownMax).join(', ');
  return [`a report of ${named}${more > 0 ? ` and ${more} more children` : ''}`];
}
