import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { bench } from '../spec/bench.ts';
import { defineTool, type Tool } from './tool.ts';
import { diff, failed, type HandlerOutput, image, shownAs, ToolError } from './tool-output.ts';

const giving = (output: HandlerOutput): Tool =>
  defineTool({ name: 'give', description: 'Gives.', input: z.strictObject({}) }, () => output);

async function wireOf(output: HandlerOutput, redact?: (text: string) => string): Promise<Record<string, unknown>> {
  const at = await bench({ tools: [giving(output)], ...(redact === undefined ? {} : { redact }) });
  await at.invoke('give');
  const [message] = await at.sink.until(1);
  const { text, content, display_as } = JSON.parse(message?.body ?? '') as Record<string, unknown>;
  return { text, content, display_as };
}

const picture = { data: Buffer.from('png'), mediaType: 'image/png', description: 'A red circle.\nOn white.' };

describe('what a handler returns', () => {
  it.each<[string, HandlerOutput]>([
    ['undefined', undefined],
    ['null', null],
    ['an empty text', ''],
    ['no content', { toString: undefined, toJSON: () => undefined }],
  ])('T18 is never sent empty: %s becomes an error', async (_what, output) => {
    expect((await wireOf(output))['text']).toMatch(/^Error: the tool returned nothing/);
  });

  it('T18 is an error in its text, with the prefix once', async () => {
    expect((await wireOf(failed('no.')))['text']).toBe('Error: no.');
    expect((await wireOf(failed('Error: no.')))['text']).toBe('Error: no.');
  });

  it('T18 becomes an error when no runtime could take it', async () => {
    expect((await wireOf('x'.repeat(5_000_000)))['text']).toBe(
      'Error: the result of the tool is too large or not valid.',
    );
  });

  it('T20 is sent as JSON text when it is structured', async () => {
    expect((await wireOf({ count: 2, names: ['a', 'b'] }))['text']).toBe('{"count":2,"names":["a","b"]}');
    expect((await wireOf([1, 2]))['text']).toBe('[1,2]');
    expect((await wireOf(0))['text']).toBe('0');
    expect((await wireOf(false))['text']).toBe('false');
  });

  it('T21 as an image has its description for who reads texts alone, before it, and behind it for people', async () => {
    const { content, display_as: displayAs, text } = await wireOf(image(picture));
    expect(text).toBe('A red circle.\nOn white.');
    expect(content).toEqual([
      { type: 'text', text: 'A red circle.\nOn white.' },
      { type: 'image', data: 'cG5n', mediaType: 'image/png' },
    ]);
    expect(displayAs).toEqual([
      { type: 'image', content: { data: 'cG5n', mediaType: 'image/png' } },
      { type: 'text', content: 'A red circle.' },
    ]);
    expect(() => image({ ...picture, description: ' ' })).toThrow(RangeError);
  });

  it('T21 is shown by segments of which the last is a short text', async () => {
    const patch = '--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n';
    const long = await wireOf(shownAs(`Changed a. ${'Much more. '.repeat(50)}`, [diff('a', patch)]));
    const segments = long['display_as'] as { type: string; content: string }[];
    expect(segments.map((segment) => segment.type)).toEqual(['diff', 'text']);
    expect(segments[1]?.content.length).toBeLessThanOrEqual(120);
    const own = await wireOf(shownAs('Changed a.', [diff('a', patch), { type: 'text', content: 'a: 1 line' }]));
    expect((own['display_as'] as unknown[]).length).toBe(2);
  });

  it('T21 has no segments that say what the text says already', async () => {
    expect((await wireOf(shownAs('Done.', [])))['display_as']).toBeUndefined();
  });
});

describe('redaction', () => {
  it('T22 looks at every text before it leaves', async () => {
    const redact = (text: string): string => text.replaceAll(/\d{4}-\d{4}/g, '****');
    expect(await wireOf('Card 1234-5678.', redact)).toMatchObject({ text: 'Card ****.' });
    expect(await wireOf(image({ ...picture, description: 'Card 1234-5678.' }), redact)).toMatchObject({
      content: [{ text: 'Card ****.' }, { data: 'cG5n' }],
      display_as: [{}, { content: 'Card ****.' }],
    });
  });

  it('T22 takes out the secrets that the server itself knows', async () => {
    const leaky = defineTool({ name: 'leak', description: 'Leaks.', input: z.strictObject({}) }, () => {
      throw new ToolError('cannot reach it with Bearer s3cret-token');
    });
    const at = await bench({ tools: [leaky], auth: { bearer: 's3cret-token' } });
    const headers = { authorization: 'Bearer s3cret-token' };
    const call = { operation: 'leak', arguments: {}, id: 'l', callback_url: `${at.sink.url}/c`, group_id: 't' };
    await at.post('/invoke', call, headers);
    expect((await at.sink.resultOf('l')).text).toBe('Error: cannot reach it with Bearer [redacted]');
  });

  it('T22 T32 keeps callback URLs, credentials and control characters out of the log', async () => {
    const talkative = defineTool(
      { name: 'talk', description: 'Logs.', input: z.strictObject({}) },
      (_given, context) => {
        context.log('at http://example.test/callback/tok?key=1 with Bearer abc.def\u001b[31m\nnext');
        throw new Error('GET https://user:pw@example.test/secret/path failed');
      },
    );
    const at = await bench({ tools: [talkative] });
    at.sink.answers.push(500, 400);
    await at.invoke('talk', {}, { callback_url: `${at.sink.url}/callback/very-secret` });
    await at.sink.until(2);
    await at.server.close();
    const log = at.log.join('\n');
    expect(log).toContain('http://example.test/…');
    expect(log).not.toMatch(/very-secret|tok\?key|secret\/path|abc\.def|user:pw/);
    expect(log).not.toContain('\u001b');
  });
});
