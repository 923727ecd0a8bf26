// `dormouse choices` and `dormouse answer`: what waits for a user, and the user's answer.
import { ask, type Choice, whole } from '@dormouse/client';
import type { Command } from 'commander';
import { cleanLine } from '../../clean-text.ts';
import { answer, type CliContext } from '../../context.ts';
import type { RunCommand } from '../../command.ts';
import { wrongUsage } from '../../exit-code.ts';

const decisions = ['allow', 'deny', 'allow_for_thread'] as const;

export function addChoiceCommands(program: Command, run: RunCommand): void {
  program.command('choices <thread>').description('what waits for a person').action(run(list));
  program
    .command('answer <thread> <choice> <answer>')
    .description(
      'answer an approval (allow, deny, allow_for_thread) or a question (its index); `dismiss` for the default',
    )
    .option('--reason <text>', 'why; the model reads it when it is denied')
    .action(run(settle));
}

async function list(context: CliContext, thread: string): Promise<void> {
  const { api } = await context.connect();
  const data = await whole((query) =>
    ask(api.GET('/v1/threads/{id}/choices', { params: { path: { id: thread }, query } })),
  );
  for (const choice of data) answer(context, describeChoice(choice), choice);
  if (data.length === 0 && !context.json) context.terminal.err('Nothing waits for a person.');
}

async function settle(
  context: CliContext,
  thread: string,
  choice: string,
  given: string,
  { reason }: { readonly reason?: string },
): Promise<void> {
  const { api } = await context.connect();
  const params = { path: { id: thread, chc: choice } };
  const body = { ...answerOf(given), reason };
  const accepted = await ask(api.POST('/v1/threads/{id}/choices/{chc}', { params, body }));
  answer(context, `${given} (${accepted.id})`, accepted);
}

export function answerOf(
  given: string,
): { decision: (typeof decisions)[number] } | { selected: number } | { dismiss: true } {
  if (given === 'dismiss') return { dismiss: true };
  if (/^\d{1,3}$/.test(given)) return { selected: Number(given) };
  const decision = decisions.find((one) => one === given);
  if (decision === undefined)
    throw wrongUsage(`an answer is ${decisions.join(', ')}, dismiss, or the index of a choice`);
  return { decision };
}

export function describeChoice(choice: Choice): string {
  const about = choice.arguments === undefined ? '' : `\n  ${cleanLine(JSON.stringify(choice.arguments))}`;
  const warnings = (choice.warnings ?? []).map((warning) => `\n  ! ${cleanLine(warning)}`).join('');
  const options =
    choice.kind === 'tool' ? choice.choices.map((one, index) => `\n  ${index}: ${cleanLine(one)}`).join('') : '';
  return `${choice.id}  ${choice.kind}  until ${choice.expires_at}\n  ${cleanLine(choice.prompt)}${about}${warnings}${options}`;
}
