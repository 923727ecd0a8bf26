import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanUp, scratchDirectory, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { freePort } from '../services/free-ports.ts';
import {
  type CliRun,
  connectionFlags,
  hasTerminal,
  runCli,
  type RunningCli,
  runProcess,
  startCli,
  startInTerminal,
} from './cli-process.ts';

let at: Standalone;
beforeAll(async () => {
  at = await startStandalone();
  await scripted('shouting', [[{ text: '\u001b[2J\u001b]0;owned\u0007Loud\u009b31m \u202eanswer' }]]);
  await scripted('failing', [[{ fail: { status: 400 } }]]);
});
afterAll(cleanUp);

const cli = (...args: readonly string[]): Promise<CliRun> => runCli([...connectionFlags(at), ...args]);

async function scripted(name: string, script: unknown): Promise<void> {
  const body = { name, model: { provider: 'scripted', parameters: { script } } };
  expect((await at.request('POST', '/v1/agents', body)).status).toBe(201);
}

async function ok(...args: readonly string[]): Promise<string> {
  const run = await cli(...args);
  expect(run, run.stderr).toMatchObject({ code: 0 });
  return run.stdout;
}

const open = async (agent = 'assistant'): Promise<string> => (await ok('threads', 'open', '--agent', agent)).trim();

async function shows(running: RunningCli, text: string): Promise<void> {
  while (!running.stdout().includes(text)) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** NDJSON. */
const values = (text: string): readonly Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('the command line tool', () => {
  it('explains itself, and wrong usage ends with 2', async () => {
    const help = await runProcess(['--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    for (const word of ['chat', 'why', 'events', 'verify', 'Exit codes']) expect(help.stdout).toContain(word);
    expect(await runProcess(['nonsense'])).toMatchObject({ code: 2, stdout: '' });
    expect(await cli('threads', 'list', '--status', 'bogus')).toMatchObject({ code: 2, stdout: '' });
    expect(await cli('threads', 'show', 'x', '--at', 'y')).toMatchObject({ code: 2, stdout: '' });
  });

  it('says what to do when nobody answers, when there is no key, and when the key is wrong', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const nobody = await runCli(['--url', url, '--data', at.dataDir, 'threads']);
    expect(nobody).toMatchObject({ code: 3, stdout: '' });
    expect(nobody.stderr).toMatch(/does not answer \(ECONNREFUSED\)[^]*npm start/);
    const keyless = await runCli(['--url', at.url, '--data', join(at.dataDir, 'nowhere'), 'threads']);
    expect(keyless).toMatchObject({ code: 4, stdout: '' });
    expect(keyless.stderr).toContain('npm start');
    expect(await runCli(['--url', at.url, '--key', 'wrong', 'threads'])).toMatchObject({ code: 4, stdout: '' });
  });

  it('takes URL and key from the environment, and prints errors as JSON where JSON was asked for', async () => {
    const env = { DORMOUSE_URL: at.url, DORMOUSE_KEY: at.key };
    expect(await runProcess(['agents'], { env })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('assistant'),
    });
    const missing = await runProcess(['--json', 'threads', 'show', 'thr_missing'], { env });
    expect(missing).toMatchObject({ code: 1, stdout: '' });
    expect(JSON.parse(missing.stderr)).toMatchObject({ error: { code: 'NOT_FOUND', exit_code: 1 } });
  });
});

describe('a conversation by commands', () => {
  it('says what is wrong in JSON where answers are JSON, also about its usage', async () => {
    for (const [args, code] of [
      [['nonsense'], 'USAGE'],
      [['threads', 'list', '--status', 'bogus'], 'USAGE'],
      [['threads', 'show'], 'USAGE'],
      [[], 'USAGE'],
      [['agents', 'create', '/nowhere/agent.json'], 'USAGE'],
      [['--url', 'http://127.0.0.1:1', 'threads'], 'UNREACHABLE'],
      [['--key', 'wrong', 'threads'], 'UNAUTHENTICATED'],
    ] as const) {
      const run = await runProcess([...connectionFlags(at), '--json', ...args]);
      expect(run, run.stderr).toMatchObject({ stdout: '' });
      expect(JSON.parse(run.stderr)).toMatchObject({ error: { code, exit_code: run.code } });
    }
    expect((await runProcess(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('tells a turn that sleeps, and one that a closed thread refused', async () => {
    await scripted('sleeping', [[{ tool_call: { name: 'sleep', arguments: { seconds: 3_600 } } }]]);
    const thread = await open('sleeping');
    const asleep = await cli('send', thread, 'sleep', '--wait', '20s');
    expect(asleep).toMatchObject({ code: 6, stdout: '', stderr: expect.stringContaining('It sleeps until') });
    await ok('threads', 'close', thread);
    const refused = await cli('--json', 'send', thread, 'hello', '--wait');
    expect(refused.code).toBe(5);
    expect(JSON.parse(refused.stdout)).toMatchObject({
      status: 'closed',
      ended: true,
      error: { code: 'THREAD_CLOSED' },
    });
  });

  it('sends, waits and prints the answer of a turn that called a tool', async () => {
    const thread = await open();
    expect(await ok('send', thread, 'What is the weather in Lisbon?', '--wait')).toContain('Lisbon, Portugal: 18 °C');
    const [turn] = values(await ok('--json', 'send', thread, 'And in Oslo and Rome? The weather, please.', '--wait'));
    expect(turn).toMatchObject({ status: 'idle', ended: true, error: null, waiting_on: [] });
    expect(turn?.['text']).toMatch(/Oslo[^]*Rome/);
    const messages = values(await ok('--json', 'messages', thread));
    expect(messages.map((message) => message['role'])).toEqual([
      ...['user', 'tool', 'assistant'],
      ...['user', 'tool', 'tool', 'assistant'],
    ]);
  });

  it('begins with a demo model that lists everything the README uses', async () => {
    const said = await ok('send', await open(), 'hello', '--wait');
    const names = [...said.matchAll(/^- (\w+): /gm)].map(([, name = '']) => name);
    const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
    const messages = [...readme.matchAll(/"text": "((?:[^"\\]|\\.)*)"\}'/g)].map(([, text = '']) => text.toLowerCase());
    expect(messages.length).toBeGreaterThan(6);
    for (const message of messages)
      expect(
        names.filter((name) => name.split('_').every((word) => message.includes(word))),
        message,
      ).not.toEqual([]);
  });

  it('reads the text from stdin, and only says that it was accepted without --wait', async () => {
    const thread = await open();
    const run = await runCli([...connectionFlags(at), 'send', thread, '-'], { input: 'roll a die' });
    expect(run).toMatchObject({ code: 0 });
    expect(run.stdout).toMatch(/^msg_\w+\n$/);
    expect(await runCli([...connectionFlags(at), 'send', thread, '-'], { input: ' ' })).toMatchObject({ code: 2 });
  });

  it('ends with 6 when the time is up, with 6 when it waits for a person, with 5 when the turn failed', async () => {
    const slow = await open();
    const late = await cli('send', slow, 'slow job of 60 s', '--wait', '500ms');
    expect(late).toMatchObject({ code: 6, stdout: '' });
    expect(late.stderr).toMatch(
      /The turn goes on; look with:\n {2}npx @dormouse\/cli why thr_\w+ --url [^\n]+\n {2}npx @dormouse\/cli messages /,
    );
    const asked = await cli('send', await open(), 'delete everything', '--wait');
    expect(asked).toMatchObject({ code: 6, stdout: '' });
    expect(asked.stderr).toMatch(
      /^ {2}npx @dormouse\/cli answer thr_\w+ chc_\w+ allow --url \S+ --data \S+\n {2}npx @dormouse\/cli answer thr_\w+ chc_\w+ deny --url /m,
    );
    const failed = await cli('send', await open('failing'), 'hello', '--wait');
    expect(failed).toMatchObject({ code: 5, stdout: '' });
    expect(failed.stderr).toContain('MODEL_FAILED');
  });

  it('lists what waits for a person and takes the answer', async () => {
    const thread = await open();
    await cli('send', thread, 'delete everything', '--wait');
    const [choice] = values(await ok('--json', 'choices', thread));
    expect(await ok('choices', thread)).toContain('delete_everything');
    await ok('answer', thread, String(choice?.['id']), 'deny', '--reason', 'not today');
    const again = await cli('answer', thread, String(choice?.['id']), 'allow');
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('dormouse: ') });
    expect(await ok('messages', thread)).toContain('not today');
  });

  it('works in a pipe: one message per line, one answer each, nothing asked', async () => {
    const run = await runProcess([...connectionFlags(at), 'chat', '--agent', 'assistant'], {
      input: 'roll 2 dice\n\nWhat time is it in Rome?\n',
    });
    expect(run).toMatchObject({ code: 0 });
    expect(run.stdout).toMatch(/^roll_dice says: [^\n]*\nclock says: [^\n]*Rome[^\n]*\n$/);
    const named = await runProcess([...connectionFlags(at), 'chat', 'assistant'], { input: 'roll 2 dice\n' });
    expect(named).toMatchObject({ code: 0, stdout: expect.stringMatching(/^roll_dice says: /) });
    expect(await cli('chat', 'missing-agent')).toMatchObject({ code: 1, stdout: '' });
    expect(await cli('chat')).toMatchObject({ code: 2, stderr: expect.stringContaining('--agent') });
  });

  it('ends with 0 where there is nothing to list', async () => {
    const run = await runProcess([...connectionFlags(at), 'threads', 'list', '--status', 'parked']);
    expect(run).toMatchObject({ code: 0, stdout: '' });
    expect(run.stderr).toContain('No threads yet');
  });

  it('shows threads, also as of a position, and closes one', async () => {
    const thread = await open();
    await cli('send', thread, 'roll a die', '--wait');
    expect(values(await ok('--json', 'threads')).map((each) => each['id'])).toContain(thread);
    expect(values(await ok('--json', 'threads', 'list', '--limit', '1')).length).toBe(1);
    expect(await ok('threads', 'show', thread)).toMatch(/idle\n[^]*2 completions, 1 tool calls/);
    expect(values(await ok('--json', 'threads', 'show', thread, '--at', '1'))[0]).toMatchObject({ position: 1 });
    await ok('threads', 'close', thread);
    expect(await cli('chat', thread)).toMatchObject({ code: 1, stderr: expect.stringContaining('is closed') });
  });
});

describe('R100 what an agent says', () => {
  it('cannot reach the terminal with control characters, and loses nothing in JSON', async () => {
    const thread = await open('shouting');
    const outputs = [
      await ok('send', thread, 'hello', '--wait'),
      await ok('messages', thread),
      await ok('events', thread),
      await ok('--json', 'messages', thread),
      await ok('--json', 'events', thread),
      await ok('export', thread),
    ];
    for (const output of outputs) {
      expect(output).toContain('Loud');
      expect(output).not.toMatch(/(?!\n)\p{Cc}|\u202e/u);
    }
    const [, said] = values(outputs[3] ?? '');
    expect(said?.['text']).toBe('\u001b[2J\u001b]0;owned\u0007Loud\u009b31m \u202eanswer');
  });
});

describe('events', () => {
  it('are printed in order, once, in lines or in JSON, from a position on', async () => {
    const thread = await open();
    await cli('send', thread, 'roll a die', '--wait');
    const events = values(await ok('--json', 'events', thread));
    expect(events.map((event) => event['position'])).toEqual(events.map((_, index) => index + 1));
    expect(events.at(-1)).toMatchObject({ type: 'completion_recorded', final: true });
    expect((await ok('events', thread, '--after', '3')).trim().split('\n').length).toBe(events.length - 3);
  });

  it('I-19 are followed without a gap through a restart of the runtime, until the thread is closed', async () => {
    const first = await startStandalone();
    const flags = connectionFlags(first);
    const run = (...args: readonly string[]): Promise<CliRun> => runCli([...flags, ...args]);
    const thread = (await run('threads', 'open')).stdout.trim();
    const following = startCli([...flags, '--json', 'events', thread, '--follow']);
    await run('send', thread, 'roll a die', '--wait');
    await shows(following, '"final":true');
    expect(await first.stop()).toBe(0);
    const second = await startStandalone({ dataDir: first.dataDir, port: first.port });
    await run('send', thread, 'roll 2 dice', '--wait');
    await run('threads', 'close', thread);
    const { code, stdout } = await following.done;
    expect(code).toBe(0);
    const followed = values(stdout);
    expect(followed).toEqual(values((await run('--json', 'events', thread)).stdout));
    expect(followed.at(-1)).toMatchObject({ type: 'thread_closed' });
    await second.stop();
  });

  it('of all threads say where they are, each once, and go on after a cursor', async () => {
    const thread = await open();
    await cli('send', thread, 'roll a die', '--wait');
    const inThread = values(await ok('--json', 'events', thread)).map(({ position, type }) => [position, type]);
    const rows = values(await ok('--json', 'events'));
    const own = rows.filter((row) => row['thread_id'] === thread);
    expect(own.map(({ position, type }) => [position, type])).toEqual(inThread);
    const cursor = String(rows.at(-1)?.['cursor']);
    const following = startCli([...connectionFlags(at), '--json', 'events', '--follow', '--after', cursor]);
    const next = await open();
    await shows(following, `"thread_id":"${next}","position":1`);
    following.closeOutput();
    await cli('send', next, 'roll a die', '--wait');
    await cli('send', next, 'roll a die', '--wait');
    expect(await following.done).toMatchObject({ code: 0, stderr: '' });
    const { stderr } = await cli('events', '--after', 'latest');
    const [, pasted = ''] = /^what comes next: npx @dormouse\/cli (events --after '[^']+') --url /.exec(stderr) ?? [];
    const [, place = ''] = /'(.+)'/.exec(pasted) ?? [];
    expect(values(await ok('--json', 'events', '--after', place))).toEqual([]);
    expect(await cli('events', '--after', 'nonsense')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cursor'),
    });
  });

  it('end quietly when the reader has seen enough', async () => {
    const thread = await open();
    const following = startCli([...connectionFlags(at), 'events', thread, '--follow']);
    await shows(following, 'thread_opened');
    following.closeOutput();
    await cli('send', thread, 'roll a die', '--wait');
    await cli('send', thread, 'roll a die', '--wait');
    expect(await following.done).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('I-03 the log of a thread', () => {
  it('verifies online, and offline from an export', async () => {
    const thread = await open();
    await cli('send', thread, 'roll a die', '--wait');
    const file = join(await scratchDirectory(), 'thread.ndjson');
    expect(await ok('verify', thread)).toContain('The chain holds');
    expect(await ok('export', thread, file)).toBe('');
    expect(await cli('export', thread, file)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('overwritten'),
    });
    expect((await runCli(['verify', file])).stdout).toContain('The chain holds');
    expect(await ok('export', thread)).toBe(await readFile(file, 'utf8'));
  });

  it('says that a file is there already, or cannot be, and that there is none', async () => {
    const thread = await open();
    const here = await scratchDirectory();
    const taken = join(here, 'taken.ndjson');
    await ok('export', thread, taken);
    const again = await cli('export', thread, taken);
    expect(again.stderr).toBe(`dormouse: ${taken} is there already.\nAn existing file is never overwritten.\n`);
    const nowhere = await cli('export', thread, join(here, 'no', 'where'));
    expect(nowhere).toMatchObject({ code: 1, stdout: '' });
    expect(nowhere.stderr).toMatch(/^dormouse: \S+ cannot be written: ENOENT[^\n]*\n$/);
    const mistyped = await runCli(['verify', join(here, 'taken.njson')]);
    expect(mistyped).toMatchObject({ code: 1, stdout: '' });
    expect(mistyped.stderr).toContain('There is no file');
  });

  it('does not verify a file that holds nothing', async () => {
    const file = join(await scratchDirectory(), 'empty.ndjson');
    await writeFile(file, '\n');
    expect(await runCli(['verify', file])).toMatchObject({ code: 5, stdout: expect.stringContaining('was cut off') });
  });

  it('does not verify after any change of an export', async () => {
    const thread = await open();
    await cli('send', thread, 'roll a die', '--wait');
    const text = await ok('export', thread);
    const lines = text.trimEnd().split('\n');
    const file = join(await scratchDirectory(), 'forged.ndjson');
    const verdictOf = async (forged: string): Promise<CliRun> => {
      await writeFile(file, forged);
      return runCli(['verify', file]);
    };
    expect(await verdictOf(text)).toMatchObject({ code: 0 });
    expect(await verdictOf(text.replace('roll a die', 'roll a dye'))).toMatchObject({ code: 5 });
    expect(await verdictOf(lines.toSpliced(1, 1).join('\n'))).toMatchObject({ code: 5 });
    expect(await verdictOf([...lines, lines.at(-1)].join('\n'))).toMatchObject({ code: 5 });
    expect(await verdictOf(lines.slice(0, -1).join('\n'))).toMatchObject({ code: 5 });
    expect(await verdictOf('not a commit')).toMatchObject({ code: 5, stdout: expect.stringContaining('line 1') });
  });
});

describe('a thread that moves to another installation', () => {
  let other: Standalone;
  beforeAll(async () => {
    other = await startStandalone();
  });
  const there = async (...args: readonly string[]): Promise<string> => {
    const run = await runCli([...connectionFlags(other), ...args]);
    expect(run, run.stderr).toMatchObject({ code: 0 });
    return run.stdout;
  };
  const exported = async (thread: string): Promise<string> => {
    const file = join(await scratchDirectory(), 'thread.ndjson');
    await ok('export', thread, file);
    return file;
  };

  it('is imported closed, whatever was open in it, once, and goes on as a fork', async () => {
    const thread = await open();
    await cli('send', thread, 'roll a die', '--wait');
    await cli('send', thread, 'Delete everything.', '--wait'); // waits for a user
    const file = await exported(thread);
    const [imported] = values(await there('--json', 'import', file));
    const id = String(imported?.['thread']);
    expect(id).not.toBe(thread);
    expect(values(await there('--json', 'import', file))).toMatchObject([{ thread: id }]);
    expect(await there('verify', id)).toContain('The chain holds');
    const lines = values(await there('--json', 'events', id));
    expect(lines.at(-1)).toMatchObject({ type: 'thread_closed' });
    expect(lines.filter(({ type }) => type === 'tool_call_requested')).toHaveLength(2);
    const fork = (await there('threads', 'fork', id, String(imported?.['position']))).trim();
    expect(await there('send', fork, 'roll a die', '--wait')).toContain('roll_dice says');
    expect(await there('messages', fork)).toContain('roll a die');
  });

  it('is refused when it is not whole, or when its agent is not there', async () => {
    const refusal = async (file: string): Promise<string> => {
      const run = await runCli([...connectionFlags(other), 'import', file]);
      expect(run.code).not.toBe(0);
      return run.stderr;
    };
    const thread = await open();
    await cli('send', thread, 'roll a die', '--wait');
    const file = await exported(thread);
    await writeFile(file, (await readFile(file, 'utf8')).replace('roll a die', 'roll a dye'));
    expect(await refusal(file)).toMatch(/is broken at line \d+: it was changed/);
    expect(await refusal(await exported(await open('shouting')))).toContain('needs the agent shouting');
    expect(await refusal('/nowhere/at/all')).toContain('is not there');
  });
});

describe('tools, agents and the clock', () => {
  it('probes a tool server by URL or name, and leaves nothing behind', async () => {
    const servers = values(await ok('--json', 'tools'));
    const known = String(servers[0]?.['base_url']);
    expect(await ok('tools', 'probe', known)).toMatch(/is fine[^]*\(destructive\)/);
    expect(await ok('tools', 'probe', String(servers[0]?.['name']))).toContain('weather');
    const dead = await cli('tools', 'probe', `http://127.0.0.1:${await freePort()}`);
    expect(dead).toMatchObject({ code: 5, stdout: expect.stringContaining('cannot be used') });
    expect(values(await ok('--json', 'tools'))).toEqual(servers);
  });

  it('makes an agent from a file and says what is wrong with one', async () => {
    const file = join(await scratchDirectory(), 'agent.json');
    await writeFile(file, JSON.stringify({ name: 'from-file', model: { provider: 'demo' } }));
    expect(await ok('agents', 'create', file)).toMatch(/^from-file v1/);
    expect(await ok('agents')).toContain('from-file');
    await writeFile(file, JSON.stringify({ name: 'from-file', model: { provider: 'nobody' } }));
    expect(await cli('agents', 'create', file)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('/model/provider'),
    });
    await writeFile(file, '{');
    expect(await cli('agents', 'create', file)).toMatchObject({ code: 2 });
  });

  it('moves the development clock and wakes what is due', async () => {
    const own = await startStandalone();
    const run = async (...args: readonly string[]): Promise<string> =>
      (await runCli([...connectionFlags(own), ...args])).stdout;
    const thread = (await run('threads', 'open')).trim();
    await run('send', thread, 'delete everything', '--wait');
    const before = String(values(await run('--json', 'clock'))[0]?.['now']);
    const after = String(values(await run('--json', 'clock', '+3d'))[0]?.['now']);
    expect(Date.parse(after) - Date.parse(before)).toBeGreaterThanOrEqual(3 * 86_400_000);
    const followed = startCli([...connectionFlags(own), '--json', 'events', thread, '--follow']);
    await shows(followed, '"final":true');
    followed.kill('SIGKILL');
    expect(followed.stdout()).toContain('"decision":"expired"');
    expect(await runCli([...connectionFlags(own), 'clock', 'tomorrow'])).toMatchObject({ code: 2 });
    await own.stop();
  });
});

describe('a conversation at a terminal', () => {
  it.skipIf(!hasTerminal)(
    'shows tool calls and answers, asks for approvals, and Ctrl-C stops the turn, then leaves',
    async () => {
      const chat = startInTerminal([...connectionFlags(at), 'chat', '--agent', 'assistant']);
      await chat.shows('> ');
      chat.type('What is the weather in Lisbon?\r');
      await chat.shows('· weather {"city":"Lisbon"}');
      await chat.shows('weather says: Lisbon, Portugal');
      await chat.shows('> ');
      chat.type('delete everything\r');
      await chat.shows('Allow delete_everything of example-tools?');
      await chat.shows('Deny');
      chat.type('\u001b[B\u001b[B\r');
      await chat.shows('so I left it alone');
      await chat.shows('> ');
      chat.type('slow job of 60 s\r');
      await chat.shows('asleep until slow_job');
      chat.type('\u0003');
      await chat.shows('slow_job → interrupted');
      await chat.shows('> ');
      chat.type('\u0003');
      expect(await chat.done).toBe(0);
      expect(chat.screen()).toContain('Go on with: npx @dormouse/cli chat thr_');
    },
  );
});

describe('a question at a terminal', () => {
  it.skipIf(!hasTerminal)(
    'is shown as answered when the runtime took the answer, and is asked again when the connection is back',
    async () => {
      const own = await startStandalone();
      const chat = startInTerminal([...connectionFlags(own), 'chat', '--agent', 'assistant']);
      await chat.shows('> ');
      chat.type('delete everything\r');
      await chat.shows('Allow delete_everything of example-tools?');
      await chat.shows('Deny');
      expect(chat.visible()).toContain('Allow once');
      await own.stop('SIGKILL');
      chat.type('\r');
      await chat.shows('does not answer');
      expect(chat.visible()).not.toContain('Allow once');
      const again = await startStandalone({ dataDir: own.dataDir, port: own.port });
      await chat.shows('Allow delete_everything of example-tools?');
      await chat.shows('Deny');
      chat.type('\r');
      await chat.shows('→ Allow once');
      await chat.shows('> ');
      expect(chat.visible()).toContain('Allow delete_everything of example-tools? → Allow once');
      chat.type('/quit\r');
      expect(await chat.done).toBe(0);
      const thread = /thr_\w+/.exec(chat.screen())?.[0] ?? '';
      const { json } = await again.request('GET', `/v1/threads/${thread}/events?limit=200`);
      expect(json.data).toContainEqual(expect.objectContaining({ type: 'choice_settled', decision: 'allow' }));
    },
  );
});

describe('a model that cannot be reached', () => {
  it.skipIf(!hasTerminal)('is one line at a terminal, as soon as it is known', async () => {
    const origin = `http://127.0.0.1:${await freePort()}`;
    const model = { provider: 'openai-compatible', name: 'm', base_url: `${origin}/v1` };
    expect((await at.request('POST', '/v1/agents', { name: 'unreachable', model })).status).toBe(201);
    const chat = startInTerminal([...connectionFlags(at), 'chat', '--agent', 'unreachable']);
    await chat.shows('> ');
    chat.type('hello\r');
    await chat.shows(`! the model at ${new URL(origin).host} does not answer: `);
    await chat.shows('ECONNREFUSED');
    chat.type('\u0003\u0003');
    await chat.done;
    expect(chat.screen().match(/does not answer/g)).toHaveLength(1);
  });
});

describe('an answer at a terminal', () => {
  it.skipIf(!hasTerminal)(
    'is shown while it is spoken, once, and stays as far as it came when it is interrupted',
    async () => {
      const pause = { wait_ms: 1_500 };
      await scripted('slow-speaker', [
        [{ text: 'One, ' }, pause, { text: 'two, ' }, { text: 'three.' }],
        [{ text: 'Four, ' }, { wait_ms: 60_000 }, { text: 'five.' }],
      ]);
      const chat = startInTerminal([...connectionFlags(at), 'chat', '--agent', 'slow-speaker']);
      await chat.shows('> ');
      chat.type('count\r');
      await chat.shows('One, ');
      expect(chat.screen()).not.toContain('two');
      await chat.shows('two, three.');
      await chat.shows('> ');
      expect(chat.screen().split('One, ').length).toBe(2);
      chat.type('go on\r');
      await chat.shows('Four, ');
      chat.type('\u0003');
      await chat.shows('[interrupted]');
      await chat.shows('> ');
      chat.type('/quit\r');
      expect(await chat.done).toBe(0);
      const thread = /thr_\w+/.exec(chat.screen())?.[0] ?? '';
      const last = values(await ok('--json', 'messages', thread)).at(-1);
      expect(last).toMatchObject({ role: 'assistant', text: 'Four, ', interrupted: true });
    },
  );
});

describe("the client's types", () => {
  it('are those of the OpenAPI document that the runtime serves', async () => {
    const root = new URL('../../libs/client/', import.meta.url);
    const generator: unknown = await import(new URL('tools/client-types.mjs', root).href);
    const { clientTypes } = generator as { readonly clientTypes: (document: unknown) => Promise<string> };
    const document = (await at.request('GET', '/openapi.json')).json as unknown;
    const checkedIn = await readFile(new URL('src/generated/openapi.ts', root), 'utf8');
    expect(
      await clientTypes(document),
      `regenerate with libs/client/tools/generate.mjs ${pathToFileURL(at.url).href}`,
    ).toBe(checkedIn);
  });
});
