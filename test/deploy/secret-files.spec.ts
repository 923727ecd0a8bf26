// Secrets from files, as an orchestrator mounts them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '@dormouse/host';

let folder = '';
const masterKey = 'a1'.repeat(32);
const mongoUrl = 'mongodb://me:p%40ss%3A%2F%3F%23@mongo:27017/dormouse?tls=true';
const sasl = 'scram-sha-512:me:pa:ss $(X) %40 \'quoted\' "twice" \\ #';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dormouse-secrets-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function problemsOf(environment: NodeJS.ProcessEnv, args: readonly string[] = []): readonly string[] {
  const reading = readConfig(args, environment);
  return reading.ok === false ? reading.problems : [];
}

const cluster = (): NodeJS.ProcessEnv => ({
  DORMOUSE_KAFKA_BROKERS: 'kafka:9092',
  DORMOUSE_KAFKA_SASL_FILE: file('sasl', sasl),
  DORMOUSE_MONGO_URL_FILE: file('mongo', `${mongoUrl}\n`),
  DORMOUSE_REDIS_URL_FILE: file('redis', 'redis://redis:6379\r\n'),
  DORMOUSE_MASTER_KEY_FILE: file('master', `${masterKey}\n`),
  DORMOUSE_BOOTSTRAP_KEY_FILE: file('bootstrap', 'bootstrap-key'),
  DORMOUSE_PLATFORM_KEY_FILE: file('platform', 'platform-key'),
});

describe('a secret in a file', () => {
  it('is read as it is, without the line break at its end', () => {
    expect(readConfig([], cluster())).toMatchObject({
      ok: true,
      config: {
        KAFKA_SASL: sasl,
        MONGO_URL: mongoUrl,
        REDIS_URL: 'redis://redis:6379',
        MASTER_KEY: masterKey,
        BOOTSTRAP_KEY: 'bootstrap-key',
        PLATFORM_KEY: 'platform-key',
      },
    });
  });

  it('may be named by a flag, which wins over both forms of the variable', () => {
    const other = file('other', 'b2'.repeat(32));
    const value = { ...cluster(), DORMOUSE_MASTER_KEY_FILE: undefined, DORMOUSE_MASTER_KEY: masterKey };
    for (const environment of [cluster(), value])
      expect(readConfig(['--master-key-file', other], environment)).toMatchObject({
        config: { MASTER_KEY: 'b2'.repeat(32) },
      });
    expect(readConfig(['--master-key', 'c3'.repeat(32)], cluster())).toMatchObject({
      config: { MASTER_KEY: 'c3'.repeat(32) },
    });
  });

  it('is refused beside the value, in the environment and on the command line', () => {
    expect(problemsOf({ ...cluster(), DORMOUSE_MASTER_KEY: masterKey })).toContain(
      'DORMOUSE_MASTER_KEY_FILE: DORMOUSE_MASTER_KEY is given too: keep one',
    );
    const flags = ['--bootstrap-key', 'bootstrap-key', '--bootstrap-key-file', file('b', 'bootstrap-key')];
    expect(problemsOf({}, flags)).toEqual(['--bootstrap-key-file: --bootstrap-key is given too: keep one']);
  });

  it.each([
    ['is not there', () => join(folder, 'canary-nowhere'), 'names a file that is not there'],
    ['is a folder', () => folderAt('canary-folder'), 'names a file that cannot be read (EISDIR)'],
    ['is empty', () => file('canary-empty', '\n'), 'names an empty file'],
  ])('that %s is a problem with the name of its setting, and no path', (_, path, words) => {
    const problems = problemsOf({ DORMOUSE_BOOTSTRAP_KEY_FILE: path() });
    expect(problems).toEqual([`DORMOUSE_BOOTSTRAP_KEY_FILE: ${words}`]);
  });

  it('is judged as the value would be, by the name of its file and without its text', () => {
    const environment = { ...cluster(), DORMOUSE_MASTER_KEY_FILE: file('wrong', 'canary') };
    expect(problemsOf(environment)).toEqual(['DORMOUSE_MASTER_KEY_FILE: must be 64 hexadecimal digits']);
    expect(problemsOf({ DORMOUSE_MONGO_URL_FILE: file('wrong', 'canary') }).join()).not.toContain('canary');
  });

  it('is only for secrets: other settings have no such form', () => {
    expect(problemsOf({ DORMOUSE_PORT_FILE: file('port', '1') })).toEqual([
      'DORMOUSE_PORT_FILE: there is no such setting',
    ]);
  });

  it('is explained by --help', () => {
    const help = readConfig(['--help'], {});
    expect(help.ok === 'help' ? help.text : '').toContain('such as DORMOUSE_MASTER_KEY_FILE');
  });
});

function folderAt(name: string): string {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  return path;
}
