// A subscription that fires once, after a delay that may be longer than this process lives.
import { z } from 'zod';
import { defineTool, type Subscription } from '@dormouse/tool-server';

const secondsMax = 31_536_000;
const timerMsMax = 2 ** 31 - 1;
const reminderSchema = z.object({ text: z.string(), due: z.number() });

export const remindMe = defineTool(
  {
    name: 'remind_me',
    description:
      'Sets a reminder: wakes the conversation once, after a delay of seconds, days or months, with the text to be reminded of.',
    input: z.strictObject({
      seconds: z.number().min(0).max(secondsMax).describe('The delay, in seconds'),
      text: z.string().min(1).max(2_000).default('You wanted to be reminded.').describe('What to be reminded of'),
    }),
    resume: arm,
  },
  async ({ seconds, text }, context) => {
    const due = Date.now() + seconds * 1_000;
    const confirmation = `The reminder is set for ${new Date(due).toISOString()}.`;
    arm(await context.subscribe({ text: confirmation, data: { text, due } }));
    return undefined;
  },
);

function arm(subscription: Subscription): void {
  const { text, due } = reminderSchema.parse(subscription.data);
  const leftMs = Math.max(0, due - Date.now());
  const timer = setTimeout(
    () => {
      if (Date.now() < due) return arm(subscription); // a timer reaches 24 days, a reminder a year
      const event = { reminder: text, scheduled_for: new Date(due).toISOString() };
      subscription.emit(event, { associative: true, final: true });
    },
    Math.min(leftMs, timerMsMax),
  );
  subscription.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
}
