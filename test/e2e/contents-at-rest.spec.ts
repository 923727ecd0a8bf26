// What the data directory of a standalone process holds of contents: nothing in the clear, in no file and no page.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { canaryConversation } from './contents-at-rest.ts';
import { eventsOf } from './conversation.ts';
import { cleanUp, startStandalone } from './standalone-process.ts';

afterAll(cleanUp);

/** Everything under the data directory, as bytes. */
const bytesUnder = (directory: string): Buffer =>
  Buffer.concat(
    readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .map((name) => join(directory, name))
      .filter((path) => statSync(path).isFile())
      .map((path) => readFileSync(path)),
  );

describe('contents at rest', () => {
  it('S1 no file of a data directory has a content in the clear, while it runs and afterwards', async () => {
    const at = await startStandalone({ args: ['--no-example-tools'] });
    const { thread, contents, labels } = await canaryConversation(at, 'rest');
    const told = JSON.stringify(await eventsOf(at, thread));
    for (const word of contents.filter((each) => !each.endsWith('-view'))) expect(told).toContain(word);
    const found = (): readonly string[] => {
      const bytes = bytesUnder(at.dataDir);
      expect(bytes.includes(thread)).toBe(true); // the search works
      for (const label of labels) expect(bytes.includes(label)).toBe(true);
      return contents.filter((word) => bytes.includes(word));
    };
    expect(found()).toEqual([]);
    await at.stop();
    expect(found()).toEqual([]);
  });
});
