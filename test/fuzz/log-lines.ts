// The lines that the processes of a system have written: after its start each is one JSON object, and none is one of an
// error.

const shownMax = 300;

/** What is wrong with them, each kind once. `known`: lines of the start, which are for people. */
export function wrongLines(output: string, known: ReadonlySet<string>): readonly string[] {
  const found = new Map<string, string>();
  const lines = output.split('\n');
  if (!output.endsWith('\n')) lines.pop(); // it is being written
  for (const line of lines) {
    if (line === '' || known.has(line)) continue;
    const entry = entryOf(line);
    if (entry === null)
      found.set('text', `a line of the log is no JSON object: ${JSON.stringify(line.slice(0, shownMax))}`);
    else if (isError(entry))
      found.set(String(entry['event'] ?? entry['msg']), `an error in the log: ${line.slice(0, shownMax)}`);
  }
  return [...found.values()];
}

type Entry = Readonly<Record<string, unknown>>;

function entryOf(line: string): Entry | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Entry) : null;
  } catch {
    return null; // not JSON: that is the finding
  }
}

const isError = ({ level }: Entry): boolean => level === 'error' || level === 'fatal';
