// The tools themselves: small, harmless, and together a tour of what a tool can be.
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { cities, findCity } from './cities.ts';
import { defineTool, type ExampleTool, failed } from './tool.ts';

const secondsMax = 86_400;
const failuresMax = 20;
const threadsRememberedMax = 10_000;

const readOnly = { readOnly: true, idempotent: true } as const;

/** A fresh set: the flaky tool remembers how often it has failed. */
export function createTools(): readonly ExampleTool[] {
  return [clock, weather, slowJob, createFlaky(), deleteEverything, rollDice];
}

const clock = defineTool({
  name: 'clock',
  description: 'Tells the current date and time in a time zone or a city, or in UTC when none is given.',
  input: z.strictObject({
    zone: z.string().max(100).optional().describe('IANA time zone such as Europe/Paris, or a city'),
  }),
  annotations: { readOnly: true },
  work: ({ zone = 'UTC' }) => {
    const known = findCity(zone);
    const timeZone = known?.zone ?? zone;
    if (!isTimeZone(timeZone))
      return failed(`there is no time zone or city "${zone}" here. Use an IANA name such as Europe/Paris.`);
    const time = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone }).format(
      new Date(),
    );
    return known === undefined ? `It is ${time} (${timeZone}).` : `It is ${time} in ${known.name} (${timeZone}).`;
  },
});

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-GB', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch (error) {
    if (error instanceof RangeError) return false; // its way of saying "unknown"
    throw error;
  }
}

const weather = defineTool({
  name: 'weather',
  description:
    'Tells the weather of a city: temperature, sky, rain and wind. Knows about forty cities, from bundled sample data.',
  input: z.strictObject({
    city: z.string().min(1).max(100).describe('Name of a city'),
    unit: z.enum(['celsius', 'fahrenheit']).optional().describe('Of the temperature; celsius when absent'),
  }),
  annotations: readOnly,
  work: ({ city, unit = 'celsius' }) => {
    const known = findCity(city);
    if (known === undefined)
      return failed(`no weather for "${city}". The sample data knows ${cities.map((each) => each.name).join(', ')}.`);
    const degrees = unit === 'celsius' ? `${known.celsius} °C` : `${Math.round(known.celsius * 1.8 + 32)} °F`;
    return `${known.name}, ${known.country}: ${degrees}, ${known.sky}, wind ${known.windMetresPerSecond} m/s (sample data).`;
  },
});

const slowJob = defineTool({
  name: 'slow_job',
  description:
    'A slow job: works for the given number of seconds and then reports. Acknowledged at once, so the conversation sleeps meanwhile.',
  input: z.strictObject({ seconds: z.number().min(0).max(secondsMax).describe('How long it takes, in seconds') }),
  annotations: { longRunning: true, idempotent: true },
  work: async ({ seconds }, { signal }) => {
    await sleep(seconds * 1_000, undefined, { signal }); // (W2)
    return `The slow job is done; it took ${seconds} s.`;
  },
});

function createFlaky(): ExampleTool {
  const failures = new Map<string, number>();
  return defineTool({
    name: 'flaky',
    description:
      'A flaky tool: fails the given number of times before it works. Either the server refuses the call with 503, so that the runtime tries again by itself, or the tool answers with an error, so that the model has to.',
    input: z.strictObject({
      failures: z.number().int().min(0).max(failuresMax).default(2).describe('How often it fails first'),
      how: z
        .enum(['refuse', 'answer'])
        .default('refuse')
        .describe('refuse: 503 instead of an acknowledgement; answer: an error as the result'),
    }),
    refuses: ({ failures: times, how }, attempt) => how === 'refuse' && attempt <= times,
    work: ({ failures: times, how }, { groupId }) => {
      if (how === 'refuse') return `The flaky tool worked after ${times} refusals.`;
      const failedBefore = failures.get(groupId) ?? 0;
      if (failedBefore < times) {
        if (failures.size >= threadsRememberedMax) failures.clear(); // T37: nothing here may grow for ever
        failures.set(groupId, failedBefore + 1);
        return failed(`the flaky tool failed on purpose (${failedBefore + 1} of ${times}). Call it again.`);
      }
      failures.delete(groupId);
      return `The flaky tool worked after ${times} errors.`;
    },
    forget: (groupId) => failures.delete(groupId),
  });
}

const deleteEverything = defineTool({
  name: 'delete_everything',
  description:
    'Pretends to delete everything. Harmless in truth, but marked as destructive: a person is asked before it is called.',
  input: z.strictObject({}),
  annotations: { destructive: true },
  work: () => 'Everything would be gone now. Nothing was deleted: this tool only pretends.',
});

const rollDice = defineTool({
  name: 'roll_dice',
  description: 'Rolls dice and tells what they show.',
  input: z.strictObject({
    count: z.number().int().min(1).max(100).default(1).describe('How many dice'),
    sides: z.number().int().min(2).max(1_000).default(6).describe('Sides of each'),
  }),
  annotations: { readOnly: true },
  work: ({ count, sides }) => {
    const rolls = Array.from({ length: count }, () => randomInt(1, sides + 1));
    const shown = `${count === 1 ? 'The die shows' : 'The dice show'} ${rolls.join(', ')}`;
    return count === 1 ? `${shown}.` : `${shown}; together ${rolls.reduce((sum, roll) => sum + roll, 0)}.`;
  },
});
