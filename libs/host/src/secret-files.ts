// Secrets that come from files: `DORMOUSE_MASTER_KEY_FILE` names a file whose text is `DORMOUSE_MASTER_KEY`. A secret
// in a file is not in the environment of the process, where child processes and diagnostics could see it.
//
// Invariants:
//   S1. A secret is given once: its value or its file, and never both in one place (the environment, the command line).
//   S2. A file that cannot be used is a problem of the setting that names it, reported with all others; neither its
//       path nor its text is repeated. (config.ts C3)
//   S3. One line break at the end is not part of the secret: editors and `echo` write one.
import { readFileSync } from 'node:fs';

/** Settings whose value must not be seen. */
export const secretSettings = [
  'BOOTSTRAP_KEY',
  'PLATFORM_KEY',
  'KAFKA_SASL',
  'MONGO_URL',
  'REDIS_URL',
  'MASTER_KEY',
] as const;

/** Each with the suffix of its file. */
export const secretFileSettings: readonly string[] = secretSettings.map((name) => `${name}_FILE`);

export interface SecretsRead {
  /** What was given, with the text of each file under the name of its secret. */
  readonly values: Readonly<Record<string, string>>;
  /** The name of the setting that named the file, by the name of its secret. */
  readonly fileOf: Readonly<Record<string, string>>;
  readonly problems: readonly string[];
}

/** `shown` is the name of a setting as its user wrote it. Reads the files at once. */
export function withSecretFiles(
  given: Readonly<Record<string, string>>,
  shown: (setting: string) => string,
): SecretsRead {
  const values = { ...given };
  const fileOf: Record<string, string> = {};
  const problems: string[] = [];
  for (const name of secretSettings) {
    const setting = `${name}_FILE`;
    const path = given[setting];
    if (path === undefined) continue;
    delete values[setting];
    fileOf[name] = setting;
    const file = given[name] === undefined ? textOf(path) : { problem: `${shown(name)} is given too: keep one` }; // (S1)
    if ('text' in file) values[name] = file.text;
    else {
      delete values[name];
      problems.push(`${shown(setting)}: ${file.problem}`);
    }
  }
  return { values, fileOf, problems };
}

/** (S2) */
function textOf(path: string): { readonly text: string } | { readonly problem: string } {
  try {
    const text = readFileSync(path, 'utf8').replace(/\r?\n$/, ''); // (S3)
    return text === '' ? { problem: 'names an empty file' } : { text };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { problem: 'names a file that is not there' };
    if (code === 'EACCES') return { problem: 'names a file that this user may not read' };
    return { problem: `names a file that cannot be read (${code ?? 'unknown reason'})` };
  }
}
