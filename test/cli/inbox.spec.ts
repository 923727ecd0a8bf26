// `dormouse inbox`: what waits for people in all threads, answered, assigned and handed out as links.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, openThread, say, scriptedAgent, untilEvent } from '../e2e/conversation.ts';
import { cleanUp, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { type CliRun, connectionFlags, runCli } from './cli-process.ts';

let at: Standalone;
beforeAll(async () => {
  at = await startStandalone();
});
afterAll(cleanUp);

const cli = (...args: readonly string[]): Promise<CliRun> => runCli([...connectionFlags(at), 'inbox', ...args]);

async function ok(...args: readonly string[]): Promise<string> {
  const run = await cli(...args);
  expect(run, run.stderr).toMatchObject({ code: 0 });
  return run.stdout;
}

interface Asked {
  readonly thread: string;
  readonly choice: string;
  readonly agent: string;
}

/** A call that two must allow waits, and is listed. */
async function asking(): Promise<Asked> {
  const tool = { mode: 'always', approvals_needed: 2, assignees: ['ann'] };
  const policies = { approve: { tools: { delete_everything: tool } } };
  const script = [[{ tool_call: { name: 'delete_everything', arguments: {} } }], [{ text: 'finished' }]];
  const agent = await scriptedAgent(at, script, { policies });
  const thread = await openThread(at, agent);
  const choice: string = (await say(at, thread, 'clean up')).waiting_on[0].id;
  await eventually(async () => (await ok('list', '--agent', agent)).includes(choice));
  return { thread, choice, agent };
}

describe('dormouse inbox', () => {
  it('lists what is open by assignee and agent, says how far it is, and assigns', async () => {
    const { choice, agent, thread } = await asking();
    const listed = await ok('--assignee', 'ann', '--agent', agent);
    for (const shown of [choice, thread, 'Allow delete_everything', 'for ann', '0 of 2 approvals'])
      expect(listed).toContain(shown);
    expect(await cli('--assignee', 'nobody-here')).toMatchObject({ code: 0, stdout: '' });
    const row = JSON.parse(await ok('--json', 'list', '--agent', agent));
    expect(row).toMatchObject({ id: choice, assignees: ['ann'], approvals_needed: 2, approved_by: [] });
    expect(await ok('assign', choice, 'ben', 'cleo')).toContain('for ben, cleo');
    expect(await ok('assign', choice)).not.toContain('  for ');
    expect(await ok('allow', choice, '--as', 'ann')).toContain('allow (req_');
    const twice = await cli('allow', choice);
    expect([twice.code, twice.stderr]).toEqual([1, expect.stringContaining('Counted already')]);
    await eventually(async () => (await ok('list', '--agent', agent)).includes('1 of 2 approvals: ann'));
    expect(await ok('deny', choice, '--reason', 'not on a Friday')).toContain('deny (req_');
    await eventually(async () => (await ok('list', '--agent', agent, '--settled')).includes('not on a Friday'));
    expect(await cli('--kind', 'bogus')).toMatchObject({ code: 2, stdout: '' });
  });

  it('prints a link alone, which answers once', async () => {
    const { choice, thread } = await asking();
    const made = await cli('link', choice, '--for', 'eve', '--ttl', '1h', '--only', 'deny');
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('for eve, once, until')]);
    const { pathname } = new URL(made.stdout.trim());
    const page = await at.request('GET', pathname, undefined, { key: null });
    expect([page.status, page.text.includes('value="allow"')]).toEqual([200, false]);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const press = async (): Promise<number> =>
      (await at.request('POST', pathname, 'answer=deny', { key: null, headers })).status;
    expect([await press(), await press()]).toEqual([200, 410]);
    expect(await untilEvent(at, thread, 'choice_settled')).toMatchObject({ decision: 'deny', by: 'eve' });
    expect(await cli('link', choice)).toMatchObject({ code: 2 });
    expect(await cli('link', choice, '--for', 'eve', '--only', 'maybe')).toMatchObject({ code: 2 });
    const late = await cli('link', choice, '--for', 'eve');
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('Already answered')]);
  });
});
