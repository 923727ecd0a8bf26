import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { filesBelow } from '../architecture/source-file.ts';
import { strangersCommands } from './command-name.ts';
import { markdownDocuments } from './document.ts';

const { name } = JSON.parse(readFileSync(new URL('../../apps/cli/package.json', import.meta.url), 'utf8')) as {
  readonly name: string;
};
const complaintsAbout = (text: string): string[] => strangersCommands([{ path: 'a.md', text }], name);

describe('a hint that begins with npx', () => {
  it('names our package, everywhere', () => {
    const sources = filesBelow('apps', 'libs', 'tools').filter(({ path }) => path.endsWith('.ts'));
    expect(strangersCommands([...markdownDocuments(), ...sources], name)).toEqual([]);
  });

  it.each(['npx dormouse chat', 'run `npx --yes dormouse tools`', 'npx @dormouse/client', 'npx @other/cli chat'])(
    'is red for: %s',
    (text) => expect(complaintsAbout(text)).toEqual([`a.md:1 calls another package than ${name} (N1)`]),
  );

  it('may call ours', () => expect(complaintsAbout(`npx ${name} chat`)).toEqual([]));
});
