// The completion scripts of shells, from the commands themselves: names, options, and the values that an option allows.
//
// Invariants:
//   M1. A script needs nothing but its shell: no process is started while a user types.
//   M2. A description is text of this tool; it is quoted for the shell all the same.
import type { Command, Option } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof shells)[number];

/** Where one stands after some words: what may come next. */
interface Place {
  /** Names of commands, joined by spaces; '' for the beginning. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly about: string }[];
  readonly options: readonly PlaceOption[];
}

interface PlaceOption {
  readonly long: string;
  readonly short: string | null;
  readonly about: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

export function completionScript(program: Command, shell: Shell): string {
  const places = placesOf(program);
  switch (shell) {
    case 'bash':
      return bash(places);
    case 'zsh':
      return zsh(places);
    case 'fish':
      return fish(places);
  }
}

function placesOf(program: Command): readonly Place[] {
  const everywhere = program.options.filter((option) => option.long !== '--version').flatMap(optionOf);
  const found: Place[] = [];
  const visit = (command: Command, path: string): void => {
    const commands = command.commands.map((each) => ({ name: each.name(), about: each.description() }));
    const own = command.options.flatMap(optionOf);
    const options = command === program ? own : [...own, ...everywhere];
    found.push({ path, commands, options: [...options, help] });
    for (const each of command.commands) visit(each, `${path} ${each.name()}`.trim());
  };
  visit(program, '');
  return found;
}

const help: PlaceOption = { long: '--help', short: '-h', about: 'display help', takesValue: false, choices: [] };

function optionOf(option: Option): readonly PlaceOption[] {
  if (option.hidden || option.long === undefined || option.long === null) return [];
  const { long, short = null, description: about, argChoices: choices = [] } = option;
  return [{ ...{ long, short, about, choices }, takesValue: option.required }];
}

const pathsOf = (places: readonly Place[]): readonly string[] =>
  places.map(({ path }) => path).filter((path) => path !== '');

/** Options after which a word is a value, and no command. */
const valued = (places: readonly Place[]): readonly string[] => [
  ...new Set(
    places.flatMap(({ options }) =>
      options.flatMap(({ long, short, takesValue }) => (takesValue ? [long, ...(short === null ? [] : [short])] : [])),
    ),
  ),
];

/** (M2) */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A `case` in bash and zsh that follows the words before the cursor, as `$path` and `$before`. */
const walk = (places: readonly Place[], words: string, first: string, current: string): readonly string[] => [
  `  local path= before= word=`,
  `  local -i i`,
  `  for ((i = ${first}; i < ${current}; i++)); do`,
  `    word=\${${words}[i]}`,
  `    case "$before" in ${valued(places).join('|')}) before=; continue ;; esac`,
  `    before=$word`,
  `    case "$path $word" in`,
  `      ${pathsOf(places)
    .map((path) => quoted(` ${path}`))
    .join('|')}) path="$path $word" ;;`,
  `    esac`,
  `  done`,
];

function choiceCases(places: readonly Place[], line: (choices: readonly string[]) => string): readonly string[] {
  return places.flatMap(({ path, options }) =>
    options
      .filter(({ choices }) => choices.length > 0)
      .map(({ long, choices }) => `    ${quoted(`${path === '' ? '' : ` ${path}`} ${long}`)}) ${line(choices)} ;;`),
  );
}

function bash(places: readonly Place[]): string {
  const cases = places.map(({ path, commands, options }) => {
    const words = [...commands.map(({ name }) => name), ...options.map(({ long }) => long)];
    return `    ${quoted(path === '' ? '' : ` ${path}`)}) words=${quoted(words.join(' '))} ;;`;
  });
  return `${[
    '# Completion of dormouse for bash. In ~/.bashrc: source <(dormouse completion bash)',
    '_dormouse() {',
    '  local words= current=${COMP_WORDS[COMP_CWORD]}',
    ...walk(places, 'COMP_WORDS', '1', 'COMP_CWORD'),
    '  COMPREPLY=()',
    '  case "$path $before" in',
    ...choiceCases(places, (choices) => `COMPREPLY=($(compgen -W ${quoted(choices.join(' '))} -- "$current")); return`),
    '  esac',
    `  case "$before" in ${valued(places).join('|')}) return ;; esac`,
    '  case "$path" in',
    ...cases,
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '}',
    'complete -o default -F _dormouse dormouse',
  ].join('\n')}\n`;
}

function zsh(places: readonly Place[]): string {
  const described = (name: string, about: string): string => quoted(`${name}:${about}`);
  const cases = places.flatMap(({ path, commands, options }) => [
    `    ${quoted(path === '' ? '' : ` ${path}`)})`,
    `      commands=(${commands.map(({ name, about }) => described(name, about)).join(' ')})`,
    `      options=(${options.map(({ long, about }) => described(long, about)).join(' ')})`,
    '      ;;',
  ]);
  return `${[
    '#compdef dormouse',
    '# Completion of dormouse for zsh. In ~/.zshrc, after compinit: source <(dormouse completion zsh)',
    '_dormouse() {',
    '  local -a commands options',
    ...walk(places, 'words', '2', 'CURRENT').map((line) => line.replaceAll(/\bpath\b(?=[=" ]|$)/g, 'place')),
    '  case "$place $before" in',
    ...choiceCases(places, (choices) => `compadd -- ${choices.map(quoted).join(' ')}; return`),
    '  esac',
    `  case "$before" in ${valued(places).join('|')}) _files; return ;; esac`,
    '  case "$place" in',
    ...cases,
    '  esac',
    "  (( $#commands )) && _describe -t commands 'command' commands",
    "  if [[ $PREFIX == -* ]]; then _describe -o -t options 'option' options; elif ! (( $#commands )); then _files; fi",
    '}',
    'if [[ $funcstack[1] == _dormouse ]]; then _dormouse "$@"; else compdef _dormouse dormouse; fi',
  ].join('\n')}\n`;
}

function fish(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, commands, options }) => {
    const here = `complete -c dormouse -n ${fishQuoted(`__dormouse_at ${fishQuoted(path)}`)}`;
    const files = commands.length > 0 ? ' -f' : '';
    return [
      ...commands.map(({ name, about }) => `${here}${files} -a ${name} -d ${fishQuoted(about)}`),
      ...options.map((option) => `${here} ${fishOption(option)}`),
    ];
  });
  return `${[
    '# Completion of dormouse for fish: dormouse completion fish > ~/.config/fish/completions/dormouse.fish',
    'function __dormouse_at',
    '  set -l words (commandline -opc)',
    '  set -e words[1]',
    '  set -l place',
    '  set -l before',
    '  for word in $words',
    `    if contains -- "$before" ${valued(places).join(' ')}`,
    '      set before',
    '      continue',
    '    end',
    '    set before $word',
    `    if contains -- "$(string join -- ' ' $place $word)" ${pathsOf(places).map(fishQuoted).join(' ')}`,
    '      set -a place $word',
    '    end',
    '  end',
    '  test "$(string join -- " " $place)" = "$argv[1]"',
    'end',
    ...lines,
  ].join('\n')}\n`;
}

function fishOption({ long, short, about, takesValue, choices }: PlaceOption): string {
  const name = `-l ${long.slice(2)}${short === null ? '' : ` -s ${short.slice(1)}`} -d ${fishQuoted(about)}`;
  if (choices.length > 0) return `${name} -x -a ${fishQuoted(choices.join(' '))}`;
  return takesValue ? `${name} -r` : name;
}

const fishQuoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
