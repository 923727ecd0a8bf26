import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseToolset } from '@dormouse/protocol';
import { serve } from '../serve.ts';
import { bench, later, temporaryFolder } from '../spec/bench.ts';
import { defineTool, type Tool, type ToolDefinition } from './tool.ts';

const none = z.strictObject({});
const tool = (more: Partial<ToolDefinition>): Tool =>
  defineTool({ name: 'ping', description: 'Answers.', input: none, ...more }, () => 'pong');
const starting = (tools: readonly Tool[], name = 'bench'): Promise<unknown> =>
  serve({ name, tools }).then((server) => server.close());

describe('the manifest', () => {
  it('T1 is complete, current, JSON, and valid by the parser of the runtime', async () => {
    const input = z.strictObject({ city: z.string().describe('Name of a city'), days: z.number().int().default(1) });
    const weather = defineTool(
      { name: 'weather', description: 'The weather.', input, annotations: { readOnly: true, 'x-acme-cost': 2 } },
      () => 'fine',
    );
    const at = await bench({ tools: [weather, tool({})], version: '7', description: 'Two tools.' });
    const response = await fetch(`${at.server.url}/.well-known/rap-toolset`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    const parsed = parseToolset(await response.json());
    expect(parsed).toMatchObject({
      ok: true,
      toolset: {
        name: 'bench',
        description: 'Two tools.',
        endpoint: `${at.server.url}/invoke`,
        toolsetVersion: '7',
        needsMigration: false,
        tools: [
          {
            name: 'weather',
            inputSchema: { type: 'object', required: ['city'], additionalProperties: false },
            annotations: { readOnly: true, 'x-acme-cost': 2 },
          },
          { name: 'ping' },
        ],
      },
    });
  });

  it('T34 says that a tool takes long, and how long it usually takes', () => {
    const slow = tool({ expectedSeconds: 90 });
    expect(slow.annotations).toEqual({ longRunning: true });
    expect(slow.description).toBe('Answers. Usually takes about 90 s.');
    expect(tool({ expectedSeconds: 2 }).annotations).toEqual({});
  });

  it.each<[string, () => Promise<unknown>, RegExp]>([
    ['no tools', () => starting([]), /\/tools needs at least 1/],
    ['no name', () => starting([tool({})], ''), /\/name needs at least 1/],
    ['a name that is too long', () => starting([tool({})], 'x'.repeat(129)), /\/name allows at most 128/],
    ['a tool name with a space', () => starting([tool({ name: 'a b' })]), /\/tools\/0\/name/],
    ['a tool name that is too long', () => starting([tool({ name: 'x'.repeat(129) })]), /\/tools\/0\/name/],
    ['the same tool name twice', () => starting([tool({}), tool({})]), /the same name as \/tools\/0/],
    ['the reserved tool name', () => starting([tool({ name: 'receive_event__injected' })]), /reserved/],
    ['the name of a built-in tool', () => starting([tool({ name: 'cancel_subscription' })]), /tool of their own/],
    ['an annotation without a namespace', () => starting([tool({ annotations: { cost: 2 } })]), /needs a namespace/],
    [
      'an annotation of MCP',
      () => starting([tool({ annotations: { destructiveHint: true } })]),
      /did you mean `destructive`\?/,
    ],
    [
      'a misspelled annotation',
      () => starting([tool({ annotations: { read_only: true } })]),
      /did you mean `readOnly`\?/,
    ],
    ['no description', () => starting([tool({ description: ' ' })]), /needs a description/],
  ])('T46 with %s does not start', async (_what, start, complaint) => {
    await expect(start()).rejects.toThrow(complaint);
  });

  it('T46 of a tool whose input is no JSON cannot be made', () => {
    expect(() => tool({ input: z.strictObject({ at: z.date() }) })).toThrow(
      'tool ping: its input has no JSON Schema form',
    );
  });

  it.each<[string, unknown, RegExp]>([
    [
      'zod 3',
      { _def: { typeName: 'ZodObject' }, parse: () => ({}) },
      /^tool ping: its input is a schema of zod 3, and zod 4 is needed/,
    ],
    ['a zod schema of a text', z.string(), /something else than an object: put it into z\.strictObject/],
    [
      'another library',
      { '~standard': { version: 1, vendor: 'other' } },
      /a schema of another library, and zod 4 is needed/,
    ],
    ['a JSON Schema', { type: 'object' }, /is no schema: write input: z\.strictObject/],
    ['nothing', undefined, /is no schema/],
  ])('T46 of a tool whose input is %s cannot be made, and a sentence says why', (_what, input, complaint) => {
    expect(() => tool({ input: input as z.ZodObject })).toThrow(complaint);
  });

  it('T46 of a tool without arguments says that there are none', () => {
    expect(tool({ input: z.object({}) }).inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    expect(tool({}).inputSchema['$schema']).toBe('https://json-schema.org/draft/2020-12/schema');
  });
});

describe('readiness', () => {
  it('T3 comes only when the manifest and the endpoint answer', async () => {
    let resumed = (): void => {};
    const hold = new Promise<void>((resolve) => (resumed = resolve));
    const patient = defineTool(
      { name: 'patient', description: 'Subscribes.', input: none, resume: () => hold },
      async (_given, context) => void (await context.subscribe()),
    );
    const dataDir = await temporaryFolder();
    const first = await bench({ tools: [patient], dataDir });
    await first.ask('patient');
    await first.server.close();

    const port = Number(new URL(first.server.url).port);
    const second = serve({ name: 'bench', tools: [patient], dataDir, port, log: () => {} });
    later(async () => (await second).close());
    const status = async (path: string): Promise<number> =>
      (await fetch(`${first.server.url}${path}`).catch(() => ({ status: 0 }))).status;
    while ((await status('/healthz')) !== 200) await new Promise((resolve) => setTimeout(resolve, 2));
    expect([await status('/readyz'), await status('/.well-known/rap-toolset')]).toEqual([503, 503]);
    resumed();
    await second;
    expect([await status('/readyz'), await status('/.well-known/rap-toolset')]).toEqual([200, 200]);
  });
});
