// The console of five services over Kafka, MongoDB and Redis, in a real browser: what people do most with it. The
// cluster is the one that the conformance specs share, so that other threads come and go meanwhile.
import { describe, expect, it } from 'vitest';
import { conformanceSystem } from '../conformance/system.ts';
import { consoleSpecs } from '../console/browser.ts';
import { statusOf, talked } from '../console/conversations.ts';
import { eventsOf, openThread, scriptedAgent, untilStatus } from '../e2e/conversation.ts';
import { withServices } from '../services/needed-services.ts';
import { injectPoison, poison } from './poison.ts';

withServices(['kafka', 'mongo', 'redis'], ({ kafka }) => {
  const system = consoleSpecs(conformanceSystem);

  describe('the console of a cluster', () => {
    it('is signed in to with a key, and lists threads with what each waits for, live', async () => {
      const thread = await talked(system.runtime, 'Delete everything.');
      const { page, context, expectClean } = await system.open('/threads?status=waiting&agent=assistant', {
        isSignedIn: false,
      });
      await page.getByLabel('API key').fill(system.runtime.key);
      await page.getByRole('button', { name: 'Sign in' }).click();
      const row = page.locator(`a[href="/threads/${thread}"]`);
      await row.getByText('your approval for delete_everything').waitFor();
      await system.runtime.request('POST', `/v1/threads/${thread}/interrupt`, { include_human: true });
      await row.waitFor({ state: 'detached' });
      expectClean();
      await context.close();
    });

    it('shows a thread as it happens: words while they are written, events, and a message that is sent', async () => {
      const script = [[{ text: 'The first words, ' }, { wait_ms: 5_000 }, { text: 'and the last.' }]];
      const speaking = await openThread(system.runtime, await scriptedAgent(system.runtime, script));
      const { page, context, expectClean } = await system.open(`/threads/${speaking}`);
      const message = page.getByLabel('Message', { exact: true });
      await message.fill('Speak.');
      await page.keyboard.press('Enter');
      await page.locator('[data-streaming]').getByText('The first words').waitFor();
      await page.locator('.message[data-role=assistant]').getByText('and the last.').waitFor();
      const thread = await talked(system.runtime, 'What is the weather in Rome?');
      await page.goto(`${system.runtime.url}/threads/${thread}`);
      await message.fill('What is the weather in Oslo?');
      await page.keyboard.press('Enter');
      await page.getByText('Oslo, Norway').first().waitFor();
      await untilStatus(system.runtime, thread, 'idle'); // no event comes after the last one that is read
      const { position } = (await eventsOf(system.runtime, thread)).at(-1);
      await page.getByRole('button', { name: `Event ${position}`, exact: true }).waitFor();
      await page.getByRole('option').getByText('tool call settled').last().waitFor();
      expectClean();
      await context.close();
    });

    it('answers a question from the inbox', async () => {
      const thread = await talked(system.runtime, 'Delete everything.');
      const { page, context, expectClean } = await system.open('/inbox?kind=approval&agent=assistant');
      const row = page.locator('.inbox-row').filter({ has: page.locator(`a[href="/threads/${thread}"]`) });
      await row.focus();
      await page.keyboard.press('a');
      await row.waitFor({ state: 'detached' });
      await expect.poll(() => statusOf(system.runtime, thread)).toBe('idle');
      const answers = (await eventsOf(system.runtime, thread)).filter(({ type }) => type === 'choice_settled');
      expect(answers).toMatchObject([{ decision: 'allow' }]);
      expectClean();
      await context.close();
    });

    it('drops what has parked a thread and replays the thread, and says what was used', async () => {
      const thread = await talked(system.runtime, 'What is the weather in Paris?');
      await injectPoison(kafka, system.runtime.prefix, thread);
      await expect.poll(() => statusOf(system.runtime, thread)).toBe('parked');
      const { page, context, expectClean } = await system.open(`/parked?thread=${thread}`);
      const details = page.getByRole('region', { name: 'A parked thread' });
      await details.getByText(poison.id).waitFor();
      await details.getByRole('button', { name: 'Drop' }).click();
      await details.getByText('dropped').waitFor();
      await details.getByRole('button', { name: 'Replay' }).click();
      await expect.poll(() => statusOf(system.runtime, thread)).toBe('idle');
      await page.goto(`${system.runtime.url}/usage`);
      await page.getByRole('region', { name: 'By agent' }).getByRole('rowheader', { name: 'assistant' }).waitFor();
      expectClean();
      await context.close();
    });
  });
});
