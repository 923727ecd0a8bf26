// The difference of two texts, line by line, from their longest common subsequence.

export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed' | 'place';
  readonly text: string;
}

const linesMax = 2_000;

/** Lines of a unified patch, with their kind. */
export function patchLines(patch: string): readonly DiffLine[] {
  return patch
    .split('\n')
    .filter((line) => !/^(?:---|\+\+\+) /.test(line))
    .map((line) => {
      if (line.startsWith('@@')) return { kind: 'place', text: line };
      if (line.startsWith('+')) return { kind: 'added', text: line.slice(1) };
      if (line.startsWith('-')) return { kind: 'removed', text: line.slice(1) };
      return { kind: 'same', text: line.startsWith(' ') ? line.slice(1) : line };
    });
}

/** What to remove and add to get from one text to the other. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [one, other] = [before.split('\n').slice(0, linesMax), after.split('\n').slice(0, linesMax)];
  const lengths = commonLengths(one, other);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < one.length || j < other.length) {
    if (i < one.length && j < other.length && one[i] === other[j]) {
      lines.push({ kind: 'same', text: one[i] ?? '' });
      [i, j] = [i + 1, j + 1];
    } else if (j >= other.length || (i < one.length && at(lengths, i + 1, j) >= at(lengths, i, j + 1))) {
      lines.push({ kind: 'removed', text: one[i] ?? '' });
      i += 1;
    } else {
      lines.push({ kind: 'added', text: other[j] ?? '' });
      j += 1;
    }
  }
  return lines;
}

/** The length of the longest common part of what follows each pair of places. */
function commonLengths(one: readonly string[], other: readonly string[]): readonly Uint16Array[] {
  const rows = Array.from({ length: one.length + 1 }, () => new Uint16Array(other.length + 1));
  for (let i = one.length - 1; i >= 0; i -= 1) {
    const row = rows[i] ?? new Uint16Array();
    for (let j = other.length - 1; j >= 0; j -= 1)
      row[j] = one[i] === other[j] ? at(rows, i + 1, j + 1) + 1 : Math.max(at(rows, i + 1, j), at(rows, i, j + 1));
  }
  return rows;
}

const at = (rows: readonly Uint16Array[], i: number, j: number): number => rows[i]?.[j] ?? 0;
