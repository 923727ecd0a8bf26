// The AsyncAPI document of the topics, for the parser of its own project.
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { asyncApiText } from './reference-pages.ts';

const parser = fileURLToPath(new URL('asyncapi/main.ts', import.meta.url));

async function problems(source: string): Promise<readonly string[]> {
  const child = spawn(process.execPath, [parser], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(source);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const lines = (await text(child.stdout)).split('\n').filter((line) => line !== '');
  expect(await ended).toBe(0);
  return lines;
}

describe('the AsyncAPI document', () => {
  it('is clean for the parser', async () => {
    expect(await problems(asyncApiText())).toEqual([]);
  });

  it('is not clean with a channel that has a message that is nowhere', async () => {
    const document = JSON.parse(asyncApiText());
    document.channels.inputs.messages.Lost = { $ref: '#/components/messages/Lost' };
    expect(await problems(JSON.stringify(document))).not.toEqual([]);
  });
});
