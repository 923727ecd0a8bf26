// What people do with the console, in a real browser against a real standalone process.
import { defineTool, serve, type ToolServer } from '@dormouse/tool-server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { askingChild, openThread, untilEvent } from '../e2e/conversation.ts';
import { startStandalone } from '../e2e/standalone-process.ts';
import { freePort } from '../services/free-ports.ts';
import { consoleSpecs, startConsole } from './browser.ts';
import { positionOf, say, scripted, statusOf, talked } from './conversations.ts';

const origin = 'https://app.example.com';
const system = consoleSpecs(() => startStandalone({ env: { DORMOUSE_ALLOWED_ORIGINS: origin } }));

describe('the first conversation', () => {
  it('begins with the banner’s link, a new thread and a message', async () => {
    const { page, expectClean } = await system.open('/');
    await page.getByRole('button', { name: 'New thread' }).first().click();
    await page.getByLabel('First message').fill('What is the weather in Oslo?');
    await page.getByRole('button', { name: 'Open thread' }).click();
    await page.getByText('weather says: Oslo, Norway').first().waitFor();
    expect(page.url()).toMatch(/\/threads\/thr_/);
    await page.getByLabel('Message', { exact: true }).fill('What is the weather in Rome?');
    await page.keyboard.press('Enter');
    await page.getByText('Rome, Italy').first().waitFor();
    expectClean();
  });

  it('asks for a key where no session is, and goes on where it was', async () => {
    const thread = await talked(system.runtime, 'What is the weather in Oslo?');
    const { page, expectClean } = await system.open(`/threads/${thread}`, { isSignedIn: false });
    await page.getByLabel('API key').fill('drm_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').first().waitFor();
    await page.getByLabel('API key').fill(system.runtime.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('weather says: Oslo, Norway').first().waitFor();
    expectClean();
  });
});

describe('the list of threads', () => {
  it('has its filters in the address, and says what each waits for', async () => {
    const waiting = await talked(system.runtime, 'Delete everything.');
    await talked(system.runtime, 'What is the weather in Paris?');
    const { page, expectClean } = await system.open('/threads');
    await page.getByRole('button', { name: 'waiting', exact: true }).click();
    await expect.poll(() => page.url()).toContain('status=waiting');
    const row = page.locator(`a[href="/threads/${waiting}"]`);
    await row.getByText('your approval').waitFor();
    await row.getByText('Delete everything.').waitFor();
    await page.getByText('What is the weather in Paris?').waitFor({ state: 'detached' });
    await page.reload();
    await row.waitFor();
    await system.runtime.request('POST', `/v1/threads/${waiting}/interrupt`, { include_human: true });
    await row.waitFor({ state: 'detached' }); // live: it waits no more
    expectClean();
  });
});

describe('what is paused', () => {
  const stateOf = async (path: string): Promise<unknown> => (await system.runtime.request('GET', path)).json.state;

  it('is an agent: its button pauses it, also as seen after a reload, until it is resumed', async () => {
    const made = await system.runtime.request('POST', '/v1/agents', {
      ...{ name: 'pausable', model: { provider: 'demo' }, tool_servers: [] },
    });
    expect(made.status).toBe(201);
    const { page, expectClean } = await system.open('/agents/pausable');
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.locator('.badge').getByText('paused', { exact: true }).waitFor();
    expect(await stateOf('/v1/agents/pausable')).toBe('paused');
    await page.reload();
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    expect(await page.locator('.badge').getByText('paused', { exact: true }).count()).toBe(0);
    expect(await stateOf('/v1/agents/pausable')).toBe('active');
    expectClean();
  });

  it('is a tool server: its button pauses it, and the list says so, until it is resumed', async () => {
    const { page, expectClean } = await system.open('/tools/example-tools');
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.locator('.screen-head .badge').getByText('paused', { exact: true }).waitFor();
    expect(await stateOf('/v1/tool-servers/example-tools')).toBe('paused');
    await page.getByRole('link', { name: 'Tool servers' }).first().click();
    await page
      .getByText(/^paused, /)
      .first()
      .waitFor();
    await page.goto(`${system.runtime.url}/tools/example-tools`);
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    expect(await stateOf('/v1/tool-servers/example-tools')).toBe('active');
    expectClean();
  });
});

describe('a thread', () => {
  it('has one selection for conversation and timeline, which is its address', async () => {
    const thread = await talked(system.runtime, 'What is the weather in Oslo?');
    const asked = await positionOf(system.runtime, thread, 'message_accepted');
    const called = await positionOf(system.runtime, thread, 'tool_call_requested');
    const { page, expectClean } = await system.open(`/threads/${thread}`);
    await page.getByRole('button', { name: `Event ${asked}`, exact: true }).click();
    await page.getByRole('option', { selected: true }).getByText('message accepted').waitFor();
    expect(page.url()).toContain(`p=${asked}`);
    await page.getByRole('listbox', { name: 'Events' }).focus();
    for (let step = asked; step < called; step += 1) await page.keyboard.press('ArrowDown');
    await page.locator('.call[data-selected]').getByText('weather').waitFor();
    await page
      .getByRole('region', { name: `Event ${called} as JSON` })
      .getByText('tool_call_requested')
      .waitFor();
    await page.reload();
    await page.locator('.call[data-selected]').waitFor();
    expectClean();
  });

  it('is shown as of any position, and takes no message there', async () => {
    const thread = await talked(system.runtime, 'What is the weather in Oslo?', 'What is the weather in Rome?');
    const { page, expectClean } = await system.open(`/threads/${thread}?at=10`);
    await page.getByText('This is the past').waitFor();
    await page.getByText('Oslo, Norway').first().waitFor();
    expect(await page.getByText('Rome').count()).toBe(0);
    await page.getByLabel('As of position').focus();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => page.url()).toContain('at=9');
    await page.getByRole('button', { name: 'Back to now' }).click();
    await page.getByText('Rome, Italy').first().waitFor();
    expectClean();
  });

  it('is forked from an event, and its branches stand side by side', async () => {
    const thread = await talked(system.runtime, 'What is the weather in Oslo?');
    const { page, expectClean } = await system.open(
      `/threads/${thread}?p=${await positionOf(system.runtime, thread, 'message_accepted')}`,
    );
    await page.getByRole('button', { name: 'Ask again from here' }).click();
    await expect.poll(() => page.url()).toContain(`beside=${thread}`);
    const other = page.getByRole('region', { name: 'The other branch' });
    await other.getByText('weather says: Oslo').waitFor();
    await page.getByRole('region', { name: 'Conversation' }).getByText('weather says: Oslo').waitFor();
    expect(page.url()).not.toContain(`/threads/${thread}`);
    expectClean();
  });

  it('streams text and reasoning, and is interrupted', async () => {
    const script = [
      [{ reasoning: 'Let me think.' }, { text: 'The first words, ' }, { wait_ms: 30_000 }, { text: 'and the last.' }],
    ];
    const thread = await scripted(system.runtime, 'slow-speaker', script);
    const { page, expectClean } = await system.open(`/threads/${thread}`);
    await page.getByText('The first words').waitFor();
    await page.getByText('Let me think.').first().waitFor();
    await page.getByRole('button', { name: 'Interrupt' }).click();
    await page.getByText('assistant, interrupted', { exact: true }).waitFor();
    expectClean();
  });

  it('shows a diff, a view, a picture, and a child with its conversation', async () => {
    const thread = await talked(system.runtime, 'Draw a blue square.', 'Spawn a thread: "Report to the parent"');
    const { page, expectClean } = await system.open(`/threads/${thread}`);
    const child = page.getByRole('button', { name: /conversation/ }).first();
    await child.waitFor();
    await child.click();
    await page.locator('.child-conversation').first().waitFor();
    await page.getByLabel('Messages').press('Home');
    const picture = page.locator('img.picture').first();
    await picture.waitFor();
    expect(
      await picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth),
    ).toBeGreaterThan(10);
    const changed = await scripted(system.runtime, 'changer', [
      [
        {
          tool_call: {
            name: 'propose_change',
            arguments: { path: 'notes.md', find: 'buy tea', replace: 'buy coffee' },
          },
        },
      ],
    ]);
    await page.goto(`${system.runtime.url}/threads/${changed}`);
    await page.locator('.diff-line[data-kind=added]').first().waitFor();
    await page.getByRole('tab', { name: /Views/ }).click();
    await page.locator('.view .diff-line[data-kind=added]').first().waitFor();
    await page.getByRole('tab', { name: 'Turns' }).click();
    await page.locator('.step .bar').first().waitFor();
    await page.getByRole('tab', { name: 'Calls' }).click();
    await page.getByText('propose_change').first().waitFor();
    expectClean();
  });

  it('is closed after a question, and says so', async () => {
    const thread = await talked(system.runtime, 'What is the weather in Oslo?');
    const { page, expectClean } = await system.open(`/threads/${thread}`);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Close thread…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Close thread' }).click();
    await page.getByText('This thread is closed.').waitFor();
    await expect.poll(() => statusOf(system.runtime, thread)).toBe('closed');
    expectClean();
  });

  it('copies what it shows as a command that works', async () => {
    const thread = await talked(system.runtime, 'What is the weather in Oslo?');
    const { page, expectClean } = await system.open(`/threads/${thread}`);
    await page.getByRole('button', { name: 'Copy as curl' }).first().click();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied).toContain(`${system.runtime.url}/v1/threads/${thread}`);
    expect(copied).toContain('$DORMOUSE_KEY');
    expect(copied).not.toContain(system.runtime.key);
    expectClean();
  });
});

describe('a question', () => {
  it('is answered in its thread, with a reason', async () => {
    const thread = await talked(system.runtime, 'Delete everything.');
    const { page, expectClean } = await system.open(`/threads/${thread}`);
    await page.getByLabel('Reason').fill('not today');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.locator('.call[data-outcome=denied]').waitFor();
    const { json } = await system.runtime.request('GET', `/v1/threads/${thread}/events?limit=200`);
    expect(json.data.find(({ type }: { type: string }) => type === 'choice_settled')).toMatchObject({
      decision: 'deny',
      reason: 'not today',
    });
    await say(system.runtime, thread, 'What is the weather in Oslo?');
    expectClean();
  });
});

describe('a thread below', () => {
  it('is what its parent waits for, in the list and on the page of the parent, where it is answered', async () => {
    const { parent, child } = await askingChild(system.runtime);
    const { page, context, expectClean } = await system.open('/threads?status=waiting');
    const row = page.locator(`a[href="/threads/${parent}"]`);
    await row.getByText('your approval for delete_everything, in a thread below').waitFor();
    await row.click();
    const head = page.locator('.thread-head');
    await head.getByText('waiting', { exact: true }).waitFor();
    await head.getByText(`of \`${child}\` below; it expires`).waitFor();
    const questions = page.getByRole('region', { name: 'Waiting for you' });
    expect(await questions.getByRole('link', { name: 'thread below' }).getAttribute('href')).toBe(`/threads/${child}`);
    await questions.getByRole('button', { name: 'Deny' }).click();
    await questions.waitFor({ state: 'detached' });
    await head.getByText('idle', { exact: true }).waitFor();
    expectClean();
    await context.close();
  });
});

describe('agents and tools', () => {
  it('a tool server that could never be called is refused with the reason, beside what was typed', async () => {
    const { page, context, expectClean } = await system.open('/tools');
    await page.getByRole('button', { name: 'Register a tool server' }).click();
    const window = page.getByRole('dialog');
    await window.getByLabel('Name').fill('inside');
    await window.getByLabel('Base URL').fill('http://169.254.169.254');
    await window.getByRole('button', { name: 'Register', exact: true }).click();
    await window.getByText('/base_url could never be called').waitFor();
    expect(await window.getByLabel('Name').inputValue()).toBe('inside');
    expectClean();
    await context.close();
  });

  it('an open thread is told of new tools of its server, and takes them', async () => {
    const serving = (...names: readonly string[]): Promise<ToolServer> =>
      serve({
        name: 'changing',
        port,
        tools: names.map((name) =>
          defineTool({ name, description: `Says ${name}.`, input: z.strictObject({}) }, () => name),
        ),
        log: () => {},
      });
    const port = await freePort();
    const first = await serving('one');
    const { runtime } = system;
    await runtime.request('POST', '/v1/tool-servers', { name: 'changing', base_url: first.url });
    const agent = { name: 'changes', model: { provider: 'demo' }, tool_servers: ['changing'] };
    await runtime.request('POST', '/v1/agents', agent);
    const thread = await openThread(runtime, 'changes');
    await untilEvent(runtime, thread, 'toolsets_loaded');
    await first.close();
    const second = await serving('two');
    const { page, context, expectClean } = await system.open(`/threads/${thread}`);
    const news = page.getByText('changing has other tools now: added two; removed one.');
    await news.waitFor();
    await page.getByRole('button', { name: 'Refresh tools' }).click();
    await news.waitFor({ state: 'detached' });
    await page.locator('.note').getByText('changing: added two; removed one').waitFor();
    expectClean();
    await context.close();
    await second.close();
  });

  it('an agent is edited, its next version compared with the one before, and talked with', async () => {
    await system.runtime.request('POST', '/v1/agents', {
      name: 'editor',
      instructions: 'Be kind.',
      model: { provider: 'demo' },
    });
    const { page, expectClean } = await system.open('/agents/editor');
    await page.getByRole('button', { name: 'Edit' }).click();
    const text = page.getByLabel('Agent as JSON');
    await text.fill('{ "name": "editor"');
    expect(await page.getByRole('button', { name: 'Save as the next version' }).isDisabled()).toBe(true);
    await text.fill(JSON.stringify({ name: 'editor', instructions: 'Be brief.', model: { provider: 'nothing' } }));
    await page.getByRole('button', { name: 'Save as the next version' }).click();
    await page.getByText('/model/provider').waitFor(); // what the API refuses is said beside the text, which stays
    await text.fill(JSON.stringify({ name: 'editor', instructions: 'Be brief.', model: { provider: 'demo' } }));
    await page.getByRole('button', { name: 'Save as the next version' }).click();
    await page.locator('.diff-line[data-kind=added]').getByText('Be brief.').waitFor();
    await page.locator('.diff-line[data-kind=removed]').getByText('Be kind.').waitFor();
    expect(page.url()).toContain('version=2');
    await page.getByRole('button', { name: 'New thread' }).click();
    expect(await page.getByLabel('Agent').last().inputValue()).toBe('editor');
    expectClean();
  });

  it('a tool is tried with a form of its schema', async () => {
    const { page, expectClean } = await system.open('/tools/example-tools?tool=weather');
    await page.getByText('The manifest is good').waitFor();
    const form = page.getByRole('region', { name: 'Try weather' });
    expect(await form.getByRole('button', { name: 'Try it' }).isDisabled()).toBe(true);
    await form.getByLabel(/^city/).fill('Oslo');
    await form.getByLabel(/^unit/).selectOption('fahrenheit');
    await form.getByRole('button', { name: 'Try it' }).click();
    await form.getByText('36 °F').first().waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    expectClean();
  });
});

describe('the rest', () => {
  it('what threads wait for, what was used, and secrets that are never shown', async () => {
    const thread = await talked(system.runtime, 'Remind me in 500 seconds: "water the plants"', 'Sleep for 3 days.');
    const { page, expectClean } = await system.open('/waiting');
    await page.getByRole('region', { name: 'Subscriptions' }).getByText('remind_me').first().waitFor();
    await page
      .getByRole('region', { name: 'Timers and calls' })
      .locator(`a[href="/threads/${thread}"]`)
      .first()
      .waitFor();
    await page.goto(`${system.runtime.url}/usage`);
    await page.getByRole('region', { name: 'By agent' }).getByRole('rowheader', { name: 'assistant' }).waitFor();
    expect(await page.locator('.chart canvas').count()).toBe(1);
    await page.goto(`${system.runtime.url}/settings`);
    const secrets = page.getByRole('region', { name: 'Secrets' });
    await secrets.getByLabel('Name').fill('llm_key');
    await secrets.getByLabel('Origins').fill('https://api.example.com');
    await secrets.getByLabel('Value').fill('the secret itself');
    await secrets.getByRole('button', { name: 'Set secret' }).click();
    await secrets.getByText('https://api.example.com').first().waitFor();
    expect(await page.content()).not.toContain('the secret itself');
    const origins = page.getByRole('region', { name: 'Allowed origins' });
    await origins.getByText('DORMOUSE_ALLOWED_ORIGINS').waitFor();
    await origins.getByText(origin).waitFor();
    const keys = page.getByRole('region', { name: 'API keys' });
    await keys.getByLabel('Name').fill('laptop');
    await keys.getByRole('button', { name: 'Make key' }).click();
    const made = (await keys.getByText(/^dmk_/).textContent()) ?? '';
    expect((await system.runtime.request('GET', '/v1/agents', undefined, { key: made })).status).toBe(200);
    await expect
      .poll(async () => {
        const { data } = (await system.runtime.request('GET', '/v1/api-keys')).json;
        return data.find((key: { readonly name: string }) => key.name === 'laptop')?.last_used_at ?? null;
      })
      .not.toBeNull(); // it is written after the answer
    await page.reload();
    await keys
      .getByRole('listitem')
      .filter({ hasText: 'laptop' })
      .getByText(/used (just now|.* ago)/)
      .waitFor();
    await keys.getByRole('button', { name: 'Revoke laptop' }).click();
    await keys.getByRole('button', { name: 'Revoke laptop' }).waitFor({ state: 'detached' });
    await keys
      .getByRole('listitem')
      .filter({ hasText: 'laptop' })
      .getByText(/revoked (just now|.* ago)/)
      .waitFor();
    expect((await system.runtime.request('GET', '/v1/agents', undefined, { key: made })).status).toBe(401);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expectClean();
  });
});

describe('a runtime that goes away', () => {
  it('loses no word that was typed, and comes back by itself', async () => {
    const own = await startConsole();
    const { port, dataDir } = own.runtime;
    const thread = await talked(own.runtime, 'Delete everything.');
    const { page } = await own.open(`/threads/${thread}`);
    const message = page.getByLabel('Message', { exact: true });
    await message.fill('What is the weather in Oslo?');
    await own.runtime.stop('SIGKILL');
    await page.getByText('The runtime does not answer').waitFor();
    expect(await message.inputValue()).toBe('What is the weather in Oslo?');
    const again = await startStandalone({ dataDir, port });
    await page.getByText('The runtime does not answer').waitFor({ state: 'detached' });
    await page.getByText('Allow delete_everything').first().waitFor(); // the open question is asked again
    await message.press('Enter');
    await page.getByText('Oslo, Norway').first().waitFor();
    await own.browser.close();
    await again.stop();
  });
});
