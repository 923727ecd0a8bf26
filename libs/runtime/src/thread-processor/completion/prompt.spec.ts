import { createManualClock, createMemoryWorld } from '@dormouse/adapter-memory';
import type { ModelMessage } from '@dormouse/thread';
import { extendTranscript, text } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { createRig, key, message, opening, toolsLoaded } from '../spec/processor-rig.ts';
import { TranscriptWindow } from '../state/transcript-window.ts';
import { joinedPrompts, promptOf, promptOfMessages } from './prompt.ts';

const said = (words: string): ModelMessage => ({ role: 'user', content: [text(words)] });
const settings = { loadPageCommits: 3 };
const folds = { extendTranscript };

function wordsOf(messages: readonly ModelMessage[]): readonly string[] {
  return messages.map((one) =>
    one.role === 'assistant' ? one.text : JSON.stringify(one).replace(/.*"text":"([^"]*)".*/, '$1'),
  );
}

describe('a prompt', () => {
  it('I-15 is the first messages for ever, whatever is appended later', async () => {
    const ports = createMemoryWorld({ clock: createManualClock() }).ports('p1');
    const window = new TranscriptWindow(0, 100_000);
    window.append([said('a'), said('b')]);
    const prompt = promptOf({ ...ports, folds, settings }, key, window, 2);
    window.append([said('c')]);
    expect(wordsOf(await prompt.all())).toEqual(['a', 'b']);
    expect(wordsOf(await prompt.last(1))).toEqual(['b']);
    expect(wordsOf(await prompt.last(9))).toEqual(['a', 'b']);
  });

  it('reads what is no longer in memory from the log, and the same as before', async () => {
    const rig = createRig();
    const { ports } = await rig.processor('p1', { settings: { transcriptBytesMax: 1 } });
    await ports.inputs.publish(key, opening());
    await rig.clock.advance(50);
    await ports.inputs.publish(key, toolsLoaded(rig.dispatched));
    for (const words of ['a', 'b', 'c', 'd']) {
      await ports.inputs.publish(key, message(words));
      await rig.clock.advance(50);
    }
    const last = rig.asked.at(-1);
    expect(wordsOf((await last?.prompt.all()) ?? [])).toEqual(['a', 'ok', 'b', 'ok', 'c', 'ok', 'd']);
    expect(wordsOf((await rig.asked[1]?.prompt.all()) ?? [])).toEqual(['a', 'ok', 'b']);
  });

  it('shows the model the payload behind a reference, never the hash', async () => {
    const ports = createMemoryWorld({ clock: createManualClock() }).ports('p1');
    await ports.blobs.put(key.tenant, 'h1', new TextEncoder().encode('a long text'), 'text/plain');
    await ports.blobs.put(key.tenant, 'h2', new Uint8Array([1, 2, 3]), 'image/png');
    const window = new TranscriptWindow(0, 100_000);
    window.append([
      {
        role: 'user',
        content: [
          { type: 'text', blob: 'h1', bytes: 11, preview: 'a lo' },
          { type: 'image', mediaType: 'image/png', blob: 'h2' },
        ],
      },
    ]);
    const [shown] = await promptOf({ ...ports, folds, settings }, key, window, 1).all();
    expect(shown).toEqual({
      role: 'user',
      content: [text('a long text'), { type: 'image', mediaType: 'image/png', data: 'AQID' }],
    });
  });

  it('P3 is of one kind, whatever it was joined from: no part shows a hash', async () => {
    const ports = createMemoryWorld({ clock: createManualClock() }).ports('p1');
    await ports.blobs.put(key.tenant, 'h1', new TextEncoder().encode('a long text'), 'text/plain');
    const long: ModelMessage = {
      role: 'user',
      content: [{ type: 'text', blob: 'h1', bytes: 11, preview: 'a lo' }],
    };
    const window = new TranscriptWindow(0, 100_000);
    window.append([said('own')]);
    const sources = { ...ports, folds, settings };
    const before = promptOfMessages(sources, key, [said('first'), long]);
    const joined = joinedPrompts(before, promptOf(sources, key, window, 1));
    expect(joined.length).toBe(3);
    expect(wordsOf(await joined.all())).toEqual(['first', 'a long text', 'own']);
    expect(wordsOf(await joined.last(2))).toEqual(['a long text', 'own']);
    expect(wordsOf(await joined.last(1))).toEqual(['own']);
  });

  it('R54 fails when a payload is missing: it is never shown as empty', async () => {
    const ports = createMemoryWorld({ clock: createManualClock() }).ports('p1');
    const window = new TranscriptWindow(0, 100_000);
    window.append([{ role: 'user', content: [{ type: 'image', mediaType: 'image/png', blob: 'gone' }] }]);
    await expect(promptOf({ ...ports, folds, settings }, key, window, 1).all()).rejects.toThrow('missing');
  });
});
