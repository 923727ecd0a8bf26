// Hints of one thread as one message: a line of JSON, then the body of a commit as it is stored, without new escapes.
import { readJson } from '@dormouse/json';
import type { Commit, Hint } from '@dormouse/ports';

/** A commit may only be the last of the hints. */
export function textOf(hints: readonly Hint[]): string {
  const last = hints.at(-1);
  if (last?.hint !== 'committed') return JSON.stringify(hints);
  const { body, ...commit } = last.commit;
  return `${JSON.stringify([...hints.slice(0, -1), { hint: 'committed', commit }])}\n${body}`;
}

/** Empty for a message of another form: another release may have sent it. A lost hint costs time, not the process. */
export function hintsIn(text: string): readonly Hint[] {
  const end = text.indexOf('\n');
  const hints = listIn(end < 0 ? text : text.slice(0, end));
  if (end < 0) return hints;
  const last = hints.pop();
  if (last?.hint === 'committed') hints.push({ hint: 'committed', commit: withBody(last.commit, text.slice(end + 1)) });
  return hints;
}

function listIn(line: string): Hint[] {
  try {
    const list = readJson(line) as readonly (Hint | null)[];
    return list.filter((each): each is Hint => each !== null && known.has(each.hint));
  } catch {
    return [];
  }
}

/** A newer release may send others. */
const known: ReadonlySet<unknown> = new Set([
  'committed',
  'delta',
  'retrying',
  'questions',
  'view',
] satisfies Hint['hint'][]);

const withBody = (
  { v, tenant, thread, version, count, inputs, at, nonce, trace, kid, prev, hash }: Commit,
  body: string,
): Commit => ({
  ...{ v, tenant, thread, version, count, inputs, at, nonce, trace, kid, prev, hash, body },
});
