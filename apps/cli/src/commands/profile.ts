// `dormouse profile`: names for runtimes, with their URL and key, in this user's configuration.
import { isCancel, password } from '@clack/prompts';
import { text as readAll } from 'node:stream/consumers';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { cleanLine } from '../clean-text.ts';
import { answer, answerList, type CliContext } from '../context.ts';
import { isUrl, urlStandard } from '../connection.ts';
import { wrongUsage } from '../exit-code.ts';
import { type Profile, profileOf, profilePath, type Profiles, readProfiles, writeProfiles } from '../profile-file.ts';
import type { RunCommand } from '../command.ts';

export function addProfileCommands(program: Command, run: RunCommand): void {
  const profile = program.command('profile').description('names for runtimes: set, use, list, delete');
  profile
    .command('list', { isDefault: true })
    .description('profiles, and which is used; never a key')
    .action(run(list));
  profile
    .command('set <name>')
    .description('keep --url, and the key or --data, under a name; what the environment says is not kept')
    .option('--with-key', 'read a key from stdin, or from a prompt that does not echo', false)
    .action(run(set));
  profile.command('use <name>').description('use it where no --profile is given').action(run(use));
  profile.command('delete <name>').description('forget a profile and its key').action(run(remove));
}

const pathOf = ({ flags }: CliContext): string => profilePath(flags.configHome);

async function list(context: CliContext): Promise<void> {
  const { current, profiles } = await readProfiles(pathOf(context));
  const rows = Object.entries(profiles).map(([name, { url, key, data = null }]) => ({
    ...{ name, url, data },
    has_key: key !== undefined,
    current: name === current,
  }));
  answerList(context, rows, {
    heading: ['', 'PROFILE', 'URL', 'KEY'],
    row: ({ name, url, data, has_key: hasKey, current: isUsed }) => [
      ...[isUsed ? '*' : '', cleanLine(name), cleanLine(url)],
      hasKey ? 'its own key' : `the key of ${cleanLine(data ?? 'the data directory')}`,
    ],
    none: `No profiles yet. Make one with: ${context.hint('profile set NAME --url URL')}`,
  });
}

async function set(context: CliContext, name: string, { withKey }: { readonly withKey: boolean }): Promise<void> {
  if (!/^[\w.-]{1,64}$/.test(name))
    throw wrongUsage(`"${cleanLine(name, 80)}" is no name: letters, digits, ".", "_" and "-".`);
  const before = await readProfiles(pathOf(context));
  const known = Object.hasOwn(before.profiles, name) ? before.profiles[name] : undefined;
  const url = context.typed.url ?? known?.url ?? urlStandard;
  if (!isUrl(url)) throw wrongUsage(`"${cleanLine(url, 200)}" is no http or https URL.`);
  const kept = known?.url === url ? known : undefined; // a key never moves to another address
  const key = withKey ? await typedKey(context, name) : (context.typed.key ?? kept?.key);
  const data = context.typed.data === undefined ? kept?.data : resolve(context.typed.data);
  const made: Profile = { url, key, data };
  await writeProfiles(pathOf(context), { ...before, profiles: { ...before.profiles, [name]: made } });
  answer(context, `${name} is ${url}`, { name, url, data: data ?? null, has_key: key !== undefined });
}

async function typedKey({ terminal }: CliContext, name: string): Promise<string> {
  const typed = terminal.interactive
    ? await password({ message: `Key of ${name}` })
    : (await readAll(terminal.stdin)).trim();
  if (isCancel(typed) || typed === '') throw wrongUsage('There is no key.');
  return typed;
}

async function use(context: CliContext, name: string): Promise<void> {
  const before = await readProfiles(pathOf(context));
  const profile = profileOf(before, name);
  await writeProfiles(pathOf(context), { ...before, current: name });
  answer(context, `${name} is used: ${profile?.url ?? ''}`, { name, url: profile?.url });
}

async function remove(context: CliContext, name: string): Promise<void> {
  const before = await readProfiles(pathOf(context));
  profileOf(before, name); // says that there is none
  const profiles = Object.fromEntries(Object.entries(before.profiles).filter(([each]) => each !== name));
  const after: Profiles = { current: before.current === name ? null : before.current, profiles };
  await writeProfiles(pathOf(context), after);
  answer(context, `${name} is deleted`, { name, deleted: true });
}
