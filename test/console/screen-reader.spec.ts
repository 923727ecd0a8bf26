// Two journeys by ear: what a screen reader speaks is all that decides where to go and whether it worked.
import { describe, expect, it } from 'vitest';
import { eventsOf } from '../e2e/conversation.ts';
import { startStandalone } from '../e2e/standalone-process.ts';
import { consoleSpecs } from './browser.ts';
import { talked } from './conversations.ts';
import { startScreenReader } from './screen-reader.ts';

const system = consoleSpecs(startStandalone);

/** These phrases, in this order, with any others between them. */
function expectInOrder(spoken: readonly string[], wanted: readonly string[]): void {
  let at = 0;
  const heard = spoken.filter((phrase) => phrase === wanted[at] && (at += 1) > 0);
  expect(heard, spoken.join(' | ')).toEqual(wanted);
}

describe('by ear', () => {
  it('an approval is found in the inbox, understood, and allowed', async () => {
    const thread = await talked(system.runtime, 'Delete everything.');
    const { page, context, expectClean } = await system.open('/inbox');
    await page.locator('.inbox-row').first().waitFor();
    const reader = await startScreenReader(page);
    expectInOrder(await reader.readTo(/^heading, Inbox, level 1$/), [
      'link, Skip to the content',
      'navigation, Screens',
      'main',
      'heading, Inbox, level 1',
    ]);
    expectInOrder(await reader.readTo(/^button, Allow$/), [
      'list, Open questions',
      'listitem, Allow delete_everything of example-tools?, level 1, position 1, set size 1',
      'checkbox, Mark approval, not checked',
      'link, assistant',
      'article, Allow delete_everything of example-tools?',
      'region, Arguments',
      '{}',
      'textbox, Reason, placeholder optional; the log keeps it',
      'button, Allow',
    ]);
    await reader.act();
    await reader.hears(/^polite: .*Answered: allow/);
    await reader.readTo(/^heading, Nothing waits for you, level 2$/);
    const settled = (await eventsOf(system.runtime, thread)).filter(({ type }) => type === 'choice_settled');
    expect(settled).toMatchObject([{ decision: 'allow' }]);
    expectClean();
    await context.close();
  });

  it('a conversation is read, a message is sent, and its answer is heard', async () => {
    const thread = await talked(system.runtime, 'What is the weather in Oslo?');
    const { page, context, expectClean } = await system.open(`/threads/${thread}`);
    await page.getByText('Oslo, Norway').first().waitFor();
    const reader = await startScreenReader(page);
    await reader.readTo(/^heading, What is the weather in Oslo\?, level 1$/);
    expectInOrder(await reader.readTo(/^textbox, Message/), [
      'idle',
      'region, Messages',
      'user',
      'What is the weather in Oslo?',
      'button, weather {"city":"Oslo"}, not expanded',
      'result',
      'Oslo, Norway: 2 °C, sleet, wind 4 m/s (sample data).',
      'assistant',
      'weather says: Oslo, Norway: 2 °C, sleet, wind 4 m/s (sample data).',
      'end of region, Messages',
      'textbox, Message, placeholder Write a message',
    ]);
    await reader.type('What is the weather in Rome?');
    await reader.press('Enter');
    await reader.hears(/^polite: assistant: weather says: Rome, Italy/);
    expectClean();
    await context.close();
  });
});
