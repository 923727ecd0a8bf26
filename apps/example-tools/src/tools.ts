// The tools themselves: small, harmless, and together an overview of what a tool can be. Longer ones have their own
// files.
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { ToolInvocation } from '@dormouse/protocol';
import { defineTool, failed, type Tool } from '@dormouse/tool-server';
import { createCalendar } from './calendar.ts';
import { cities, findCity } from './cities.ts';
import { deploy } from './deploy.ts';
import { draw } from './draw.ts';
import { proposeChange } from './propose-change.ts';
import { remindMe } from './remind-me.ts';
import { runBuild } from './run-build.ts';
import type { ToyProvider } from './toy-provider.ts';
import { watchRepository } from './watch-repository.ts';

const secondsMax = 86_400;
const failuresMax = 20;
const callsRememberedMax = 10_000;

const readOnly = { readOnly: true, idempotent: true } as const;

/** Without a provider there is no login, and no calendar. */
export function createTools(provider: ToyProvider | null): readonly Tool[] {
  return [
    ...[clock, weather, slowJob, flaky, deleteEverything, rollDice],
    ...[watchRepository, runBuild, deploy, draw, proposeChange, remindMe],
    ...(provider === null ? [] : [createCalendar(provider)]),
  ];
}

const clock = defineTool(
  {
    name: 'clock',
    description: 'Tells the current date and time in a time zone or a city, or in UTC when none is given.',
    input: z.strictObject({
      zone: z.string().max(100).optional().describe('IANA time zone such as Europe/Paris, or a city'),
    }),
    annotations: { readOnly: true },
  },
  ({ zone = 'UTC' }) => {
    const known = findCity(zone);
    const timeZone = known?.zone ?? zone;
    if (!isTimeZone(timeZone))
      return failed(`there is no time zone or city "${zone}" here. Use an IANA name such as Europe/Paris.`);
    const time = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone }).format(
      new Date(),
    );
    return known === undefined ? `It is ${time} (${timeZone}).` : `It is ${time} in ${known.name} (${timeZone}).`;
  },
);

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-GB', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch (error) {
    if (error instanceof RangeError) return false; // how Intl reports an unknown zone
    throw error;
  }
}

const weather = defineTool(
  {
    name: 'weather',
    description:
      'Tells the weather of a city: temperature, sky, rain and wind. Knows about forty cities, from bundled sample data.',
    input: z.strictObject({
      city: z.string().min(1).max(100).describe('Name of a city'),
      unit: z.enum(['celsius', 'fahrenheit']).optional().describe('Of the temperature; celsius when absent'),
    }),
    annotations: readOnly,
  },
  ({ city, unit = 'celsius' }) => {
    const known = findCity(city);
    if (known === undefined)
      return failed(`no weather for "${city}". The sample data knows ${cities.map((each) => each.name).join(', ')}.`);
    const degrees = unit === 'celsius' ? `${known.celsius} °C` : `${Math.round(known.celsius * 1.8 + 32)} °F`;
    return `${known.name}, ${known.country}: ${degrees}, ${known.sky}, wind ${known.windMetresPerSecond} m/s (sample data).`;
  },
);

const slowJob = defineTool(
  {
    name: 'slow_job',
    description:
      'A slow job: works for the given number of seconds and then reports. Acknowledged at once, so the conversation sleeps meanwhile.',
    input: z.strictObject({ seconds: z.number().min(0).max(secondsMax).describe('How long it takes, in seconds') }),
    annotations: { longRunning: true, idempotent: true },
    deadlineMs: (secondsMax + 60) * 1_000,
  },
  async ({ seconds }, { signal }) => {
    await sleep(seconds * 1_000, undefined, { signal });
    return `The slow job is done; it took ${seconds} s.`;
  },
);

const flakyInput = z.strictObject({
  failures: z.number().int().min(0).max(failuresMax).default(2).describe('How often it fails first'),
  how: z
    .enum(['refuse', 'answer'])
    .default('refuse')
    .describe('refuse: 503 instead of an acknowledgement; answer: an error as the result'),
});

const flaky = defineTool(
  {
    name: 'flaky',
    description:
      'A flaky tool: fails the given number of times before it works. Either the server refuses the call with 503, so that the runtime tries again by itself, or the tool answers with an error, so that the model has to.',
    input: flakyInput,
  },
  ({ failures: times, how }, { threadId, memory }) => {
    if (how === 'refuse') return `The flaky tool worked after ${times} refusals.`;
    const name = `flaky ${threadId}`;
    const failedBefore = Number(memory.get(name) ?? 0);
    if (failedBefore < times) {
      memory.set(name, failedBefore + 1);
      return failed(`the flaky tool failed on purpose (${failedBefore + 1} of ${times}). Call it again.`);
    }
    memory.delete(name);
    return `The flaky tool worked after ${times} errors.`;
  },
);

/**
 * For `admit`: 503 as often as the arguments of a call of `flaky` demand. `attempts` counts the POSTs of each call; the
 * oldest are dropped, because nothing here may grow for ever.
 */
export function refuseFlaky(attempts: Map<string, number>, call: ToolInvocation): number | null {
  const parsed = flakyInput.safeParse(call.arguments);
  if (call.operation !== 'flaky' || !parsed.success || parsed.data.how !== 'refuse') return null;
  const key = JSON.stringify([call.groupId, call.id]);
  const attempt = (attempts.get(key) ?? 0) + 1;
  attempts.delete(key);
  attempts.set(key, attempt);
  const [oldest] = attempts.keys();
  if (attempts.size > callsRememberedMax && oldest !== undefined) attempts.delete(oldest);
  return attempt <= parsed.data.failures ? 503 : null;
}

const deleteEverything = defineTool(
  {
    name: 'delete_everything',
    description:
      'Pretends to delete everything. Harmless in truth, but marked as destructive: a person is asked before it is called.',
    input: z.strictObject({}),
    annotations: { destructive: true },
  },
  () => 'Everything would be gone now. Nothing was deleted: this tool only pretends.',
);

const rollDice = defineTool(
  {
    name: 'roll_dice',
    description: 'Rolls dice and tells what they show.',
    input: z.strictObject({
      count: z.number().int().min(1).max(100).default(1).describe('How many dice'),
      sides: z.number().int().min(2).max(1_000).default(6).describe('Sides of each'),
    }),
    annotations: { readOnly: true },
  },
  ({ count, sides }) => {
    const rolls = Array.from({ length: count }, () => randomInt(1, sides + 1));
    const shown = `${count === 1 ? 'The die shows' : 'The dice show'} ${rolls.join(', ')}`;
    return count === 1 ? `${shown}.` : `${shown}; together ${rolls.reduce((sum, roll) => sum + roll, 0)}.`;
  },
);
