// `dormouse choices` and `dormouse answer`: what waits for a person, and the person's answer.
import { ask, type Choice } from '@dormouse/client';
import { Argument, type Command } from 'commander';
import { cleanLine } from '../clean-text.ts';
import { answer } from '../context.ts';
import type { RunCommand } from '../command.ts';

const decisions = ['allow', 'deny', 'allow_for_thread'] as const;

export type Decision = (typeof decisions)[number];

export function addChoiceCommands(program: Command, run: RunCommand): void {
  program
    .command('choices <thread>')
    .description('what waits for a person')
    .action((thread: string) =>
      run(async (context) => {
        const { api } = await context.connect();
        const { data } = await ask(api.GET('/v1/threads/{thread}/choices', { params: { path: { thread } } }));
        for (const choice of data) answer(context, describeChoice(choice), choice);
        if (data.length === 0 && !context.json) context.terminal.err('Nothing waits for a person.');
      }),
    );
  program
    .command('answer <thread> <choice>')
    .description('answer an approval')
    .addArgument(new Argument('<decision>', 'the answer').choices(decisions))
    .option('--reason <text>', 'why; the model reads it when it is denied')
    .action((thread: string, choice: string, decision: Decision, flags: { readonly reason?: string }) =>
      run(async (context) => {
        const { api } = await context.connect();
        const body = { decision, ...(flags.reason === undefined ? {} : { reason: flags.reason }) };
        const accepted = await ask(
          api.POST('/v1/threads/{thread}/choices/{choice}', { params: { path: { thread, choice } }, body }),
        );
        answer(context, `${decision} (${accepted.id})`, accepted);
      }),
    );
}

export function describeChoice(choice: Choice): string {
  const about = choice.arguments === undefined ? '' : `\n  ${cleanLine(JSON.stringify(choice.arguments))}`;
  return `${choice.id}  ${choice.kind}  until ${choice.expires_at}\n  ${cleanLine(choice.prompt)}${about}`;
}
