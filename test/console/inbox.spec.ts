// The inbox over all threads: by keyboard, several at once, with a reason, with edited arguments.
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { startStandalone } from '../e2e/standalone-process.ts';
import { consoleSpecs } from './browser.ts';
import { scripted, talked } from './conversations.ts';

const system = consoleSpecs(startStandalone);

/** The answers in a thread's log, in order. */
async function answersOf(thread: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { json } = await system.runtime.request('GET', `/v1/threads/${thread}/events?limit=200`);
  return json.data.filter(({ type }: { readonly type: string }) => type === 'choice_settled');
}

/** The row of a thread's question, with the focus. */
async function focused(page: Page, thread: string): Promise<void> {
  const row = page.locator('.inbox-row').filter({ has: page.locator(`a[href="/threads/${thread}"]`) });
  await row.first().focus();
}

describe('the inbox', () => {
  it('allows with A and denies with D, and counts what is left', async () => {
    const [one, other] = [
      await talked(system.runtime, 'Delete everything.'),
      await talked(system.runtime, 'Delete everything.'),
    ];
    const { page, context, expectClean } = await system.open('/inbox');
    await focused(page, one);
    await page.keyboard.press('a');
    await expect.poll(() => answersOf(one)).toMatchObject([{ decision: 'allow' }]);
    await focused(page, other);
    await page.keyboard.press('d');
    await expect.poll(() => answersOf(other)).toMatchObject([{ decision: 'deny' }]);
    await page.getByText('Nothing waits for you').waitFor();
    expectClean();
    await context.close();
  });

  it('answers those that are marked together, with one reason', async () => {
    const threads = [
      await talked(system.runtime, 'Delete everything.'),
      await talked(system.runtime, 'Delete everything.'),
    ];
    const { page, context, expectClean } = await system.open('/inbox');
    for (const thread of threads) {
      await focused(page, thread);
      await page.keyboard.press('x');
    }
    const marked = page.getByRole('region', { name: 'Marked approvals' });
    await marked.getByText('2 marked').waitFor();
    await marked.getByLabel('Reason').fill('not on a Friday');
    await marked.getByRole('button', { name: 'Deny all' }).click();
    for (const thread of threads)
      await expect.poll(() => answersOf(thread)).toMatchObject([{ decision: 'deny', reason: 'not on a Friday' }]);
    expectClean();
    await context.close();
  });

  it('allows with other arguments, which the log notes', async () => {
    const script = [[{ tool_call: { name: 'weather', arguments: { city: 'Oslo' } } }]];
    await system.runtime.request('POST', '/v1/agents', {
      name: 'careful',
      model: { provider: 'scripted', parameters: { script } },
      tool_servers: ['example-tools'],
      policies: { approve: { mode: 'all' } },
    });
    const { json } = await system.runtime.request('POST', '/v1/threads', {
      agent: 'careful',
      message: { text: 'go on' },
    });
    const { page, context, expectClean } = await system.open('/inbox');
    await focused(page, json.id);
    await page.keyboard.press('e');
    const text = page.getByLabel('Arguments, edited before allowing');
    await text.fill('{ "city": ');
    expect(await page.getByRole('button', { name: 'Allow as edited' }).isDisabled()).toBe(true);
    await text.fill('{ "city": "Rome" }');
    await page.getByRole('button', { name: 'Allow as edited' }).click();
    await expect.poll(() => answersOf(json.id)).toMatchObject([{ decision: 'allow', edited: true }]);
    await page.goto(`${system.runtime.url}/threads/${json.id}`);
    await page.getByText('Rome, Italy').first().waitFor();
    expectClean();
    await context.close();
  });

  it('takes the choice of a tool, and leads a login to its thread', async () => {
    const chosen = await scripted(system.runtime, 'deployer', [
      [{ tool_call: { name: 'deploy', arguments: { service: 'api', environment: 'production' } } }],
    ]);
    const login = await scripted(system.runtime, 'planner', [
      [{ tool_call: { name: 'connect_calendar', arguments: {} } }],
    ]);
    const { page, context, expectClean } = await system.open('/inbox?kind=tool');
    await page.getByRole('button', { name: 'Deploy api to production now', exact: true }).click();
    await expect.poll(() => answersOf(chosen)).toMatchObject([{ selected: 0 }]);
    await page.getByRole('button', { name: 'logins' }).click();
    await page.getByRole('link', { name: 'Log in at its thread' }).click();
    await expect.poll(() => page.url()).toContain(login);
    const link = page.getByRole('link', { name: /^Log in at 127\.0\.0\.1/ });
    expect(await link.getAttribute('href')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\//);
    expectClean();
    await context.close();
  });
});

describe('a call that two must allow', () => {
  const hostile = '"><script>window.hit=1</script><img src=x onerror="window.hit=1"></pre>';

  /** A thread whose call waits for two, with arguments that look like a page. */
  async function askingTwo(name: string): Promise<string> {
    const at = system.runtime;
    const tools = { weather: { mode: 'always', approvals_needed: 2, assignees: ['ann'] } };
    const script = [[{ tool_call: { name: 'weather', arguments: { city: hostile } } }], [{ text: 'finished' }]];
    const model = { provider: 'scripted', parameters: { script } };
    const policies = { approve: { tools } };
    await at.request('POST', '/v1/agents', { name, model, policies, tool_servers: ['example-tools'] });
    const { id } = (await at.request('POST', '/v1/threads', { agent: name, message: { text: 'go' } })).json;
    return id;
  }

  it('says whose task it is, and how many have allowed it', async () => {
    const thread = await askingTwo('shared-inbox');
    const { page, context, expectClean } = await system.open('/inbox');
    const row = page.locator('.inbox-row').filter({ has: page.locator(`a[href="/threads/${thread}"]`) });
    await row.getByText('0 of 2 approvals').waitFor();
    await row.getByText('for ann').waitFor();
    await focused(page, thread);
    await page.keyboard.press('a');
    await row.getByText(/1 of 2 approvals/).waitFor();
    expect(await answersOf(thread)).toEqual([]);
    expectClean();
    await context.close();
  });

  it('is denied from the page behind a link, in a browser that is not signed in', async () => {
    const thread = await askingTwo('shared-link');
    const choices = `/v1/threads/${thread}/choices`;
    await expect.poll(async () => (await system.runtime.request('GET', choices)).json.data.length).toBe(1);
    const [{ id }] = (await system.runtime.request('GET', choices)).json.data;
    const { url } = (await system.runtime.request('POST', `/v1/choices/${id}/links`, { for: 'eve' })).json;
    const { page, context, expectClean } = await system.open(new URL(url).pathname, { isSignedIn: false });
    await page.getByText('<script>window.hit=1</script>').first().waitFor();
    expect(await page.evaluate(() => (globalThis as unknown as { hit?: number }).hit)).toBeUndefined();
    expectClean();
    await page.getByLabel(/^Reason/).fill('not on a Friday');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByRole('heading', { name: 'Denied' }).waitFor();
    await expect
      .poll(() => answersOf(thread))
      .toMatchObject([{ decision: 'deny', by: 'eve', reason: 'not on a Friday' }]);
    await page.goto(url);
    await page.getByRole('heading', { name: 'This link is used up' }).waitFor();
    await context.close();
  });
});
