// Profiles, completion and the end of requests that have nothing to do.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanUp, scratchDirectory, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { type CliRun, connectionFlags, runCli, runProcess } from './cli-process.ts';

let at: Standalone;
beforeAll(async () => {
  at = await startStandalone();
});
afterAll(cleanUp);

const cli = (...args: readonly string[]): Promise<CliRun> => runCli([...connectionFlags(at), ...args]);

describe('a profile', () => {
  it('names a runtime, in a file that only its owner reads, and is used until a flag says otherwise', async () => {
    const home = await scratchDirectory();
    const env = { XDG_CONFIG_HOME: home };
    const file = join(home, 'dormouse', 'profiles.json');
    const run = (args: readonly string[], input?: string): Promise<CliRun> =>
      runProcess(args, { env, ...(input === undefined ? {} : { input }) });
    expect((await run(['profile'])).stderr).toContain('No profiles yet. Make one with: npx @dormouse/cli profile set');
    const made = await run(['--url', at.url, 'profile', 'set', 'here', '--with-key'], `${at.key}\n`);
    expect(made).toMatchObject({ code: 0, stdout: `here is ${at.url}\n` });
    expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600');
    expect((await run(['--profile', 'here', 'agents'])).stdout).toContain('assistant');
    expect(await run(['profile', 'use', 'here'])).toMatchObject({ code: 0 });
    expect((await run(['agents'])).stdout).toContain('assistant');
    expect((await run(['profile'])).stdout).toMatch(/^\* +here +http\S+ +its own key$/m);
    expect((await run(['--json', 'profile'])).stdout).not.toContain(at.key);
    const hint = await run(['--profile', 'here', 'threads']);
    expect(hint.stderr).toContain('npx @dormouse/cli chat --profile here');
    const elsewhere = await run(['--url', 'http://127.0.0.1:1', 'agents']); // its key goes nowhere else
    expect(elsewhere).toMatchObject({ code: 4, stderr: expect.stringContaining('No key') });
    expect(await run(['profile', 'delete', 'here'])).toMatchObject({ code: 0 });
    expect(await readFile(file, 'utf8')).not.toContain(at.key);
    expect(await run(['--profile', 'here', 'agents'])).toMatchObject({ code: 2, stdout: '' });
  });

  it('comes before the environment where a flag names it, and behind it elsewhere', async () => {
    const home = await scratchDirectory();
    const env = { XDG_CONFIG_HOME: home, DORMOUSE_URL: 'http://127.0.0.1:1', DORMOUSE_KEY: 'wrong' };
    await runProcess([...connectionFlags(at), 'profile', 'set', 'here'], { env });
    await runProcess(['profile', 'use', 'here'], { env });
    expect(await runProcess(['--profile', 'here', 'agents'], { env })).toMatchObject({ code: 0 });
    expect(await runProcess(['agents'], { env })).toMatchObject({ code: 3 });
  });

  it('does not move its key to another address, and a file that cannot be read is no empty one', async () => {
    const home = await scratchDirectory();
    const env = { XDG_CONFIG_HOME: home };
    const file = join(home, 'dormouse', 'profiles.json');
    await runProcess(['--url', at.url, 'profile', 'set', 'x', '--with-key'], { env, input: at.key });
    await runProcess(['--url', 'http://127.0.0.1:1', 'profile', 'set', 'x'], { env });
    expect(await readFile(file, 'utf8')).not.toContain(at.key);
    await writeFile(file, '{"profiles":');
    const broken = await runProcess(['--json', 'profile', 'use', 'x'], { env });
    expect(broken).toMatchObject({ code: 2, stdout: '' });
    expect(JSON.parse(broken.stderr).error.message).toContain(file);
    expect(await readFile(file, 'utf8')).toBe('{"profiles":');
  });
});

describe('a request with nothing to do', () => {
  it('ends with 1 and a sentence, in JSON with the code of the refusal', async () => {
    const thread = (await cli('threads', 'open', '--agent', 'assistant')).stdout.trim();
    for (const [args, words, code] of [
      [['threads', 'interrupt', thread], 'There is nothing to do: nothing was running', 'NOTHING_TO_STOP'],
      [['threads', 'retry', thread], 'There is nothing to do: the last completion did not fail', 'NOTHING_TO_RETRY'],
      [['subscriptions', 'cancel', thread, 'call_none'], 'this thread has no such subscription', 'NOTHING_TO_STOP'],
      [['schedules', 'remove', thread, 'sch_none'], 'this thread has no such schedule', 'NOTHING_TO_STOP'],
    ] as const) {
      const run = await cli(...args);
      expect(run).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(words) });
      const json = await cli('--json', ...args);
      expect(JSON.parse(json.stderr)).toMatchObject({ error: { code, exit_code: 1 } });
    }
    expect(await cli('threads', 'close', thread)).toMatchObject({ code: 0 });
    expect(await cli('threads', 'close', thread)).toMatchObject({ code: 1, stdout: '' });
  });

  it('is done where there was something to do', async () => {
    const thread = (await cli('threads', 'open', '--agent', 'assistant')).stdout.trim();
    await cli('send', thread, 'slow job of 60 s', '--wait', '500ms');
    expect(await cli('threads', 'interrupt', thread)).toMatchObject({ code: 0, stderr: '' });
    expect(await cli('threads', 'interrupt', thread)).toMatchObject({ code: 1 });
  });
});

describe('completion', () => {
  const shells = [
    [
      'bash',
      [
        '-c',
        'source "$0"; COMP_WORDS=(dormouse "${@:2}"); COMP_CWORD=$#-1; COMP_CWORD=$((COMP_CWORD)); _dormouse; printf "%s\\n" "${COMPREPLY[@]}"',
      ],
    ],
    ['fish', ['-c', 'source $argv[1]; complete -C (string join -- " " dormouse $argv[3..-1])']],
  ] as const;

  it.each(shells)('completes commands, options and their values in %s', async (shell, command) => {
    const program = ['/bin', '/usr/bin', '/usr/local/bin'].map((folder) => join(folder, shell)).find(existsSync);
    const script = await cli('completion', shell);
    expect(script).toMatchObject({ code: 0, stderr: '' });
    expect(script.stdout).toContain('opening');
    if (program === undefined) return; // a machine without this shell
    const file = join(await scratchDirectory(), 'completion');
    await writeFile(file, script.stdout);
    const offered = async (...words: readonly string[]): Promise<readonly string[]> => {
      const { stdout, stderr } = await promisify(execFile)(program, [...command, file, 'dormouse', ...words]);
      expect(stderr).toBe('');
      return stdout.split('\n').flatMap((line) => line.split('\t')[0] || []);
    };
    expect(await offered('ag')).toEqual(['agents']);
    expect(await offered('--url', 'threads', 'ex')).toEqual(['export']);
    expect(await offered('threads', 'in')).toEqual(['interrupt']);
    expect(await offered('threads', 'list', '--st')).toEqual(['--status']);
    expect(await offered('threads', 'list', '--status', 'wa')).toEqual(['waiting']);
    expect(await offered('completion', 'nothing')).toEqual([]);
  });

  it('has a script for zsh, and says which shells there are', async () => {
    expect((await cli('completion', 'zsh')).stdout).toMatch(/^#compdef dormouse\n[^]*compdef _dormouse dormouse/);
    expect(await cli('completion', 'csh')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('fish'),
    });
  });
});

describe('the help', () => {
  it('has its commands under headings', async () => {
    const { stdout } = await cli('--help');
    const headings = [...stdout.matchAll(/^([A-Z][^\n]*):$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual([
      ...['Options', 'Conversations', 'What happens in a thread', 'Agents, models and tools'],
      ...['Events from outside', 'Logs and moves', 'Operation', 'This tool'],
    ]);
  });
});
