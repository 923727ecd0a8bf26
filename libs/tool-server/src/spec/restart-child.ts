// A tool server in a process of its own, for specs that kill it: `node restart-child.ts <data folder> <port>`.
// Prints `ready <url>`; each line that its tools print is a side effect.
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { serve } from '../serve.ts';
import { defineTool } from '../define/tool.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const input = z.strictObject({ ms: z.number().default(0) });

const work = defineTool({ name: 'work', description: 'Works.', input }, async ({ ms }, { id }) => {
  say(`began ${id}`);
  await sleep(ms);
  return 'worked';
});
const again = defineTool(
  { name: 'again', description: 'Can begin again.', input, onRestart: 'rerun' },
  async ({ ms }, { id, memory }) => {
    const runs = Number(memory.get('runs') ?? 0) + 1;
    memory.set('runs', runs);
    say(`began ${id}`);
    if (runs === 1) await sleep(ms);
    return `run ${runs}`;
  },
);
const tick = defineTool(
  {
    name: 'tick',
    description: 'Ticks.',
    input,
    resume: (subscription) => void subscription.emit('resumed', { eventId: 'resumed' }),
  },
  async ({ ms }, context) => void (await context.subscribe({ data: { ms } })),
);
const stream = defineTool({ name: 'stream', description: 'Streams.', input }, async ({ ms }, context) => {
  const subscription = await context.subscribe();
  subscription.emit('line 1', { associative: true });
  say(`began ${context.id}`);
  await sleep(ms);
});

const ask = { prompt: 'Shall I?', choices: ['Yes', 'No'], default: 1 };
const deploy = defineTool(
  { name: 'deploy', description: 'Asks, then works.', input, onRestart: 'rerun_if_asking' },
  async ({ ms }, context) => {
    const first = await context.choose(ask);
    const { label } = await context.choose({ ...ask, prompt: `${first.label}; sure?` });
    say(`began ${context.id}`);
    await sleep(ms);
    return `${first.label}, ${label}`;
  },
);
const careful = defineTool({ name: 'careful', description: 'Asks.', input }, async (_, context) => {
  const { label } = await context.choose(ask);
  return label;
});

const [, , dataDir = '', port = '0'] = process.argv;
const delivery = { firstPauseMs: 30, pauseMsMax: 60, timeoutMs: 500 };
const tools = [work, again, tick, stream, deploy, careful];
const log = (): void => {};
const server = await serve({ name: 'child', tools, dataDir, port: Number(port), delivery, log });
say(`ready ${server.url}`);
