// What the exit codes mean; the README's table says the same.
export const exitCodes = {
  done: 0,
  /** The API refused, or something failed that has no code of its own. */
  failed: 1,
  usage: 2,
  /** Nobody answers at the URL. */
  unreachable: 3,
  /** No key, or one that is not accepted. */
  key: 4,
  /** What was checked is not in order: a broken chain, an unusable manifest, a turn that failed. */
  notInOrder: 5,
  /** The turn did not end in time, or waits for a person. */
  waiting: 6,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends a command with words for a person, a next step, and a code. */
export class CliFailure extends Error {
  override readonly name = 'CliFailure';
  readonly exitCode: ExitCode;
  /** What to do about it. */
  readonly next: string | null;

  constructor(exitCode: ExitCode, message: string, next: string | null = null) {
    super(message);
    this.exitCode = exitCode;
    this.next = next;
  }
}
