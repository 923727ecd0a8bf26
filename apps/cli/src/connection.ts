// The URL of the runtime and its key: from flags, the environment, a profile, or the file that the standalone runtime
// wrote.
//
// Invariants:
//   K1. The key of a profile goes to the URL of that profile only.
//   K2. What a flag or the environment says wins over a profile.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, createClient } from '@dormouse/client';
import { CliFailure, exitCodes, wrongUsage } from './exit-code.ts';
import { profileOf, profilePath, readProfiles } from './profile-file.ts';
import { hasCode } from './thrown.ts';

/** What flags and the environment say; undefined where both are silent. */
export interface ConnectionFlags {
  readonly url?: string;
  readonly key?: string;
  readonly data?: string;
  readonly profile?: string;
  /** Where the configuration of this user is. */
  readonly configHome?: string;
}

export const urlStandard = 'http://127.0.0.1:7420';
export const dataStandard = './.dormouse';

/** Long enough to survive a restart, short enough for a user who forgot to start it. */
const retry = { firstPauseMs: 100, pauseMsMax: 1_000, totalMsMax: 2_000 };

export async function connect(flags: ConnectionFlags): Promise<Client> {
  const { url, key } = await connectionOf(flags);
  return createClient({ baseUrl: url, key, retry });
}

/** @throws CliFailure when the URL is none, or there is no key. */
export async function connectionOf(flags: ConnectionFlags): Promise<{ readonly url: string; readonly key: string }> {
  const profile = await usedProfile(flags);
  const url = flags.url ?? profile?.url ?? urlStandard;
  if (!isUrl(url)) {
    throw wrongUsage(`"${url}" is no http or https URL.`, 'Pass --url http://127.0.0.1:7420 or set DORMOUSE_URL.');
  }
  const isOfProfile = profile !== null && sameUrl(url, profile.url) && flags.data === undefined; // (K1, K2)
  const given = flags.key ?? (isOfProfile ? profile.key : undefined);
  const directory = flags.data ?? (isOfProfile ? profile.data : undefined) ?? dataStandard;
  return { url, key: whole(given ?? (await keyFromFile(directory))) };
}

/** None is read where flags say all that it could. */
async function usedProfile({ url, key, data, profile, configHome }: ConnectionFlags) {
  if (url !== undefined && (key !== undefined || data !== undefined) && profile === undefined) return null;
  return profileOf(await readProfiles(profilePath(configHome)), profile);
}

export const isUrl = (text: string): boolean => URL.canParse(text) && /^https?:/.test(text);

const sameUrl = (one: string, other: string): boolean => one.replace(/\/+$/, '') === other.replace(/\/+$/, '');

/** @throws CliFailure for what no header can carry, such as a placeholder that was pasted. */
function whole(key: string): string {
  if (/^[!-~]+$/.test(key)) return key;
  throw new CliFailure(
    exitCodes.key,
    key === '' ? 'The key is empty.' : 'The key has characters that no key has.',
    'Is its file empty, or was a placeholder such as … pasted? Keys begin with dmk_; the platform key is the one that the runtime was started with.',
  );
}

async function keyFromFile(directory: string): Promise<string> {
  const path = join(directory, 'key');
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    const why = hasCode(error, 'ENOENT') ? 'there is no such file' : String(error);
    throw new CliFailure(
      exitCodes.key,
      `No key: none was given, and ${path} cannot be read (${why}).`,
      'Start the runtime here with: npm start. Or pass --key KEY, set DORMOUSE_KEY, or name its data directory with --data DIR.',
    );
  }
}
