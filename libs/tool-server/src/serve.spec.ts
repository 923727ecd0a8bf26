import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { bench, later } from './spec/bench.ts';
import { eventually } from './spec/callback-sink.ts';
import { serve } from './serve.ts';
import { defineTool } from './define/tool.ts';

const tools = [defineTool({ name: 'ping', description: 'Answers.', input: z.strictObject({}) }, () => 'pong')];
const log = (): void => {};

describe('a port that cannot be had is refused in a sentence', () => {
  it('that says who has it', async () => {
    const first = await serve({ name: 'one', tools, log });
    later(first.close);
    const port = Number(new URL(first.url).port);
    await expect(serve({ name: 'two', tools, port, log })).rejects.toThrow(
      `port ${port} of 127.0.0.1 is taken by another process; stop it, or pass another \`port\` (0 takes a free one).`,
    );
  });

  it('also where the host is none of this machine', async () => {
    await expect(serve({ name: 'one', tools, host: '192.0.2.1', auth: { bearer: 'a secret' }, log })).rejects.toThrow(
      /192\.0\.2\.1 is no address of this machine/,
    );
  });
});

describe('an address that other machines reach', () => {
  it.each(['0.0.0.0', '::', '192.0.2.1'])(
    '%s needs a credential, or a word that it is meant to be open',
    async (host) => {
      await expect(serve({ name: 'one', tools, host, log })).rejects.toThrow(
        /each of them may call its tools; set auth/,
      );
    },
  );

  it('is served with either, and loopback with neither', async () => {
    for (const options of [
      { host: '0.0.0.0', auth: { bearer: 'right-secret' } },
      { host: '0.0.0.0', auth: { open: true } },
      { host: 'localhost' },
      { host: '127.0.0.2' },
    ]) {
      const server = await serve({ name: 'one', tools, log, ...options });
      later(server.close);
    }
  });
});

describe('an error of a tool', () => {
  const password = 'hunter2-hunter2';
  const breaks = defineTool({ name: 'breaks', description: 'Throws.', input: z.strictObject({}) }, () => {
    const cause = new Error(`no route to https://db.example.com/private?key=1 with ${password}`);
    throw new TypeError('the price is gone\nping call_9 threw: nothing', { cause });
  });

  it('T19 T22 is in the log with its stack and its cause, below one line, and without secrets', async () => {
    const at = await bench({ tools: [breaks], auth: { bearer: password } });
    const id = await at.invoke('breaks', {}, {}).catch(() => null);
    expect(id).toBeNull(); // no credential
    const headers = { authorization: `Bearer ${password}` };
    const call = {
      operation: 'breaks',
      arguments: {},
      id: 'call_1',
      callback_url: `${at.sink.url}/c`,
      group_id: 'thr_1',
    };
    expect((await at.post('/invoke', call, headers)).status).toBe(200);
    expect((await at.sink.resultOf('call_1')).text).not.toMatch(/price|serve\.spec/);
    await eventually(() => at.log.length > 0, 'the line');
    const lines = at.log[0]?.split('\n') ?? [];
    expect(lines[0]).toBe('breaks call_1 threw: TypeError: the price is gone');
    expect(lines.slice(1).every((line) => line.startsWith('    '))).toBe(true);
    expect(lines.filter((line) => /^ {4}at .*serve\.spec\.ts:\d+/.test(line)).length).toBeGreaterThan(1);
    expect(at.log[0]).toContain('caused by Error: no route to https://db.example.com/… with [redacted]');
  });
});
