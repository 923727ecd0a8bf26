// Profiles: named runtimes in a file of this user's configuration, by the XDG base directory specification.
//
// Invariants:
//   X1. The file is readable by its owner alone (0600): it may hold keys. It is replaced as a whole.
//   X2. A profile that is named and not there is an error, never a default.
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { cli } from './command-name.ts';
import { type CliFailure, wrongUsage } from './exit-code.ts';
import { hasCode, messageOf } from './thrown.ts';

export interface Profile {
  readonly url: string;
  readonly key?: string;
  /** Data directory whose key is used when there is none here; an absolute path. */
  readonly data?: string;
}

export interface Profiles {
  /** The one that is used when none is named. */
  readonly current: string | null;
  readonly profiles: Readonly<Record<string, Profile>>;
}

const none: Profiles = { current: null, profiles: {} };

/** `configHome` is `XDG_CONFIG_HOME`, which counts only when it is absolute. */
export function profilePath(configHome: string | undefined): string {
  const isUsable = configHome !== undefined && isAbsolute(configHome);
  return join(isUsable ? configHome : join(homedir(), '.config'), 'dormouse', 'profiles.json');
}

/** @throws CliFailure when the file is there and cannot be used. */
export async function readProfiles(path: string): Promise<Profiles> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return none;
    throw unusable(path, messageOf(error));
  }
  const read = parsed(text);
  if (read === null) throw unusable(path, 'it is not what this tool wrote');
  return read;
}

/** (X1) */
export async function writeProfiles(path: string, profiles: Profiles): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.${process.pid}`;
  await writeFile(fresh, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  await chmod(fresh, 0o600); // a file that a killed run left may have another mode
  await rename(fresh, path);
}

/** The profile of this name, or the current one; null when there is none. @throws CliFailure (X2) */
export function profileOf({ current, profiles }: Profiles, name: string | undefined): Profile | null {
  const wanted = name ?? current;
  if (wanted === null) return null;
  const found = Object.hasOwn(profiles, wanted) ? profiles[wanted] : undefined;
  if (found !== undefined) return found;
  const names = Object.keys(profiles).join(', ');
  throw wrongUsage(
    `There is no profile named "${wanted}".`,
    names === '' ? `Make one with: ${cli} profile set NAME --url URL` : `There are: ${names}`,
  );
}

function parsed(text: string): Profiles | null {
  try {
    const { current = null, profiles } = JSON.parse(text) as Partial<Profiles>;
    const isWhole =
      (current === null || typeof current === 'string') &&
      typeof profiles === 'object' &&
      Object.values(profiles).every(isProfile);
    return isWhole ? { current, profiles } : null;
  } catch {
    return null; // no JSON, or no object: the caller says so
  }
}

const isProfile = ({ url, key, data }: Profile): boolean =>
  typeof url === 'string' && [key, data].every((each) => each === undefined || typeof each === 'string');

const unusable = (path: string, why: string): CliFailure =>
  wrongUsage(`The profiles in ${path} cannot be read: ${why}.`, 'Mend the file, or remove it.');
