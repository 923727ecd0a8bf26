// The URL of the runtime and its key: from flags, the environment, or the file that the standalone runtime wrote.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, createClient } from '@dormouse/client';
import { CliFailure, exitCodes } from './exit-code.ts';

export interface ConnectionFlags {
  readonly url: string;
  readonly key?: string;
  readonly data: string;
}

/** Long enough to survive a restart, short enough for a user who forgot to start it. */
const retry = { firstPauseMs: 100, pauseMsMax: 1_000, totalMsMax: 2_000 };

export async function connect(flags: ConnectionFlags): Promise<Client> {
  if (!URL.canParse(flags.url) || !/^https?:/.test(flags.url)) {
    throw new CliFailure(
      exitCodes.usage,
      `"${flags.url}" is no http or https URL.`,
      'Pass --url http://127.0.0.1:7420 or set DORMOUSE_URL.',
    );
  }
  return createClient({ baseUrl: flags.url, key: flags.key ?? (await keyFromFile(flags.data)), retry });
}

async function keyFromFile(directory: string): Promise<string> {
  const path = join(directory, 'key');
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    const why =
      error instanceof Error && 'code' in error && error.code === 'ENOENT' ? 'there is no such file' : String(error);
    throw new CliFailure(
      exitCodes.key,
      `No key: none was given, and ${path} cannot be read (${why}).`,
      'Start the runtime here with: npm start. Or pass --key KEY, set DORMOUSE_KEY, or name its data directory with --data DIR.',
    );
  }
}
