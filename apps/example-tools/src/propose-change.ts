// A change to a bundled file, kept per conversation: shown to users as a diff, and beside the conversation as a view of
// all changes so far. Undoing the last change clears the view.
import { z } from 'zod';
import { defineTool, diff, failed, shownAs, type ThreadMemory } from '@dormouse/tool-server';
import { unifiedDiff } from './unified-diff.ts';

const files: ReadonlyMap<string, string> = new Map([
  ['greeting.ts', 'export function greet(name: string): string {\n  return `Hello, ${name}!`;\n}\n'],
  ['notes.md', '# Notes\n\n- buy tea\n- water the plants\n- call Alice\n'],
]);
const fileCharactersMax = 10_000;

export const proposeChange = defineTool(
  {
    name: 'propose_change',
    description: `Proposes a change of a bundled file (${[...files.keys()].join(', ')}): replaces a text by another and shows the difference.`,
    input: z.strictObject({
      path: z.string().max(200).default('notes.md').describe('Which file'),
      find: z.string().min(1).max(1_000).describe('A text that occurs once'),
      replace: z.string().max(1_000).describe('What stands there instead'),
    }),
  },
  async ({ path, find, replace }, { memory, view }) => {
    const original = files.get(path);
    if (original === undefined)
      return failed(`there is no file "${path}". Choose one of ${[...files.keys()].join(', ')}.`);
    const before = textOf(memory, path);
    const parts = before.split(find);
    if (parts.length !== 2)
      return failed(`the text occurs ${parts.length - 1} times in ${path}, not once. The file is:\n${before}`);
    const after = parts.join(replace);
    if (after.length > fileCharactersMax)
      return failed(`${path} would have more than ${fileCharactersMax} characters.`);
    if (after === before) return failed(`that would change nothing in ${path}.`);
    memory.set(nameOf(path), after);
    const patch = unifiedDiff(path, before, after);
    const changes = [...files].map(([name, text]) => unifiedDiff(name, text, textOf(memory, name))).join('');
    await view('diff', changes === '' ? {} : { patch: changes });
    return shownAs(`Changed ${path}. It is now:\n${after}`, [diff(path, patch)], `propose_change ${path}`);
  },
);

const nameOf = (path: string): string => `file ${path}`;

function textOf(memory: ThreadMemory, path: string): string {
  const changed = memory.get(nameOf(path));
  return typeof changed === 'string' ? changed : (files.get(path) ?? '');
}
