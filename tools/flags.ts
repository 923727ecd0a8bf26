// Owns: the flags of a script of this repository.
//
// F1. `--help` prints the usage and ends with 0.
// F2. An unknown flag, or one without its value, ends with 2: one sentence, and where to read more.
// F3. A number below zero is a value, which its flag may refuse; anything else that begins with a dash is a flag.
import { parseArgs, type ParseArgsConfig } from 'node:util';

type Flags = NonNullable<ParseArgsConfig['options']>;
type Read<Options extends Flags, Positionals extends boolean> = ReturnType<
  typeof parseArgs<{ options: Options; allowPositionals: Positionals; args: string[] }>
>;

/** `usage` begins with the command: `npm run chaos -- [options]`. Never returns for `--help` and for a mistake. */
export function readFlags<const Options extends Flags, const Positionals extends boolean = false>(
  usage: string,
  options: Options,
  {
    positionals = false as Positionals,
    args = process.argv.slice(2),
  }: { positionals?: Positionals; args?: string[] } = {},
): Read<Options, Positionals> {
  if (args.some((argument) => argument === '--help' || argument === '-h')) {
    process.stdout.write(`${usage.trim()}\n`); // (F1)
    process.exit(0);
  }
  try {
    return parseArgs({
      ...{ args: withNumbers(args, options), options, allowPositionals: positionals, strict: true },
    }) as Read<Options, Positionals>;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const [command = ''] = usage.trim().split(' [');
    return refuse(`${error.message.split(/\.\s/)[0]}.`, command);
  }
}

/** `--copies -1` as `--copies=-1`. (F3) */
function withNumbers(args: readonly string[], options: Flags): string[] {
  const joined: string[] = [];
  for (const [nth, argument] of args.entries()) {
    const before = args[nth - 1] ?? '';
    const isValue = before.startsWith('--') && options[before.slice(2)]?.type === 'string';
    if (isValue && /^-\d/.test(argument)) joined[joined.length - 1] = `${before}=${argument}`;
    else joined.push(argument);
  }
  return joined;
}

/** (F2) For a value that a flag does not have, too. */
export function refuse(sentence: string, command: string): never {
  process.stderr.write(`${sentence}\n${command.trimEnd().replace(/ --$/, '')} -- --help says what there is.\n`);
  process.exit(2);
}
