// docs/reference/cli.md, made from the commands of the tool itself.
import { commandTable, type DescribedCommand, type DescribedOption } from '@dormouse/cli';
import { code, generatedNote, table } from './page-text.ts';

const introduction = `# Commands

\`npx @dormouse/cli\`, or \`dormouse\` where it is installed. What the tool is like, its profiles and its exit codes are in
[its README](../../apps/cli/README.md). A group that is named without a command lists.`;

export function cliPage(): string {
  const { everywhere, commands } = commandTable();
  const groups = [...new Set(commands.map(({ group }) => group))];
  return [
    introduction,
    '## Options of every command',
    optionTable(everywhere),
    ...groups.flatMap((group) => [
      `## ${group}`,
      ...commands.filter((command) => command.group === group).flatMap(commandText),
    ]),
    generatedNote('the help of the tool'),
  ].join('\n\n');
}

const commandText = ({ path, usage, about, arguments: given, options }: DescribedCommand): readonly string[] => [
  `### ${path}`,
  `${about.charAt(0).toUpperCase()}${about.slice(1)}.`,
  `\`\`\`text\n${usage}\n\`\`\``,
  ...(given.length === 0 ? [] : [optionTable(given)]),
  ...(options.length === 0 ? [] : [optionTable(options)]),
];

const optionTable = (options: readonly DescribedOption[]): string =>
  table(
    ['option', 'meaning'],
    options.map(({ term, about }) => [code(term), about]),
  );
