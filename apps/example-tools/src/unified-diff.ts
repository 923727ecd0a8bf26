// The difference of two texts as a unified diff of one hunk: enough for a change in one place.
const contextLines = 3;

/** Empty when the texts are equal. */
export function unifiedDiff(path: string, before: string, after: string): string {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < Math.min(old.length, fresh.length) && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(old.length, fresh.length) - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  if (head === old.length && head === fresh.length) return '';
  const start = Math.max(0, head - contextLines);
  const rest = Math.min(tail, contextLines);
  const removed = old.slice(head, old.length - tail);
  const added = fresh.slice(head, fresh.length - tail);
  const lead = old.slice(start, head);
  const trail = old.slice(old.length - tail, old.length - tail + rest);
  const span = (changed: readonly string[]): string => {
    const count = lead.length + changed.length + trail.length;
    return `${count === 0 ? start : start + 1},${count}`;
  };
  return [
    `--- ${path}`,
    `+++ ${path}`,
    `@@ -${span(removed)} +${span(added)} @@`,
    ...lead.map((line) => ` ${line}`),
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
    ...trail.map((line) => ` ${line}`),
    '',
  ].join('\n');
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));
