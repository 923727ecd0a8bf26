// Hints of one thread as one message: a line of JSON, and after it the body of a commit as it is stored, not escaped again.
import type { Commit, Hint } from '@dormouse/ports';
import { readJson } from '@dormouse/protocol';

/** A commit may only be the last. */
export function textOf(hints: readonly Hint[]): string {
  const last = hints.at(-1);
  if (last?.hint !== 'committed') return JSON.stringify(hints);
  const { body, ...commit } = last.commit;
  return `${JSON.stringify([...hints.slice(0, -1), { hint: 'committed', commit }])}\n${body}`;
}

export function hintsIn(text: string): readonly Hint[] {
  const end = text.indexOf('\n');
  if (end < 0) return readJson(text) as readonly Hint[];
  const hints = readJson(text.slice(0, end)) as Hint[];
  const last = hints.pop();
  if (last?.hint === 'committed') hints.push({ hint: 'committed', commit: withBody(last.commit, text.slice(end + 1)) });
  return hints;
}

const withBody = (
  { v, tenant, thread, version, count, inputs, at, nonce, trace, kid, prev, hash }: Commit,
  body: string,
): Commit => ({
  ...{ v, tenant, thread, version, count, inputs, at, nonce, trace, kid, prev, hash, body },
});
