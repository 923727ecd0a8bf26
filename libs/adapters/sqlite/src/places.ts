// What the log is found by, a commit by its version and by its inputs, written for many commits at once. (S6)
//
// Invariants:
//   P1. An input is claimed when the commits behind the places name it, of which this remembers the claims, or `inputs` does.
//   P2. Nothing is remembered that is not in the log: after a rollback all of it is forgotten, and found in the log again.
//   P3. `behindMax` commits at most are behind: with that many, places are written in the transaction of the last of them.
import type { DatabaseSync } from 'node:sqlite';

export interface Places {
  isClaimed(number: number, input: string): boolean;
  /** A commit was inserted. */
  add(number: number, inputs: readonly string[]): void;
  /** Leaves no commit behind. */
  write(): void;
  /** The transaction was rolled back. (P2) */
  forget(): void;
}

export const behindMax = 512;
/** Which commits have no place yet. */
export const isBehind = 'commits.id > (SELECT upto FROM placed)';

interface Behind {
  commits: number;
  /** Inputs, each with the number of its thread. */
  readonly claims: Set<string>;
}

export function createPlaces(database: DatabaseSync): Places {
  const findBehind = database.prepare(`SELECT number, inputs FROM commits WHERE ${isBehind}`);
  const findInput = database.prepare('SELECT 1 FROM inputs WHERE input = ? AND number = ?');
  const insertPlaces = database.prepare(
    `INSERT INTO places (number, version, id) SELECT number, version, id FROM commits WHERE ${isBehind} ORDER BY number, version`,
  );
  // An id that a commit names twice is one input. That no other commit names it was found when it was claimed.
  const insertInputs = database.prepare(
    'INSERT OR IGNORE INTO inputs (input, number, version) SELECT each.value, number, version ' +
      `FROM commits, json_each(commits.inputs) AS each WHERE ${isBehind} ORDER BY each.value, number`,
  );
  const movePlaced = database.prepare('UPDATE placed SET upto = (SELECT max(id) FROM commits)');

  /** Null when it must be looked for: at first, and after a rollback. */
  let known: Behind | null = null;

  function behind(): Behind {
    if (known) return known;
    known = nothing();
    for (const row of findBehind.all())
      note(known, Number(row['number']), JSON.parse(String(row['inputs'])) as string[]);
    return known;
  }

  function write(): void {
    if (behind().commits === 0) return;
    insertPlaces.run();
    insertInputs.run();
    movePlaced.run();
    known = nothing();
  }

  return {
    isClaimed: (number, input) =>
      behind().claims.has(claimOf(number, input)) || findInput.get(input, number) !== undefined,
    add: (number, inputs) => {
      const { commits } = known ? note(known, number, inputs) : behind(); // which finds it in the log
      if (commits >= behindMax) write(); // (P3)
    },
    write,
    forget: () => (known = null),
  };
}

const nothing = (): Behind => ({ commits: 0, claims: new Set() });

function note(behind: Behind, number: number, inputs: readonly string[]): Behind {
  behind.commits += 1;
  for (const input of inputs) behind.claims.add(claimOf(number, input));
  return behind;
}

const claimOf = (number: number, input: string): string => `${number} ${input}`;
