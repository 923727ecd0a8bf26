// The exit codes; the README's table lists the same.
export const exitCodes = {
  done: 0,
  /** The API refused, or a failure without a code of its own. */
  failed: 1,
  usage: 2,
  /** Nothing answers at the URL. */
  unreachable: 3,
  /** No key, or one that is not accepted. */
  key: 4,
  /** A check failed: a broken chain, an unusable manifest, a turn that failed. */
  notInOrder: 5,
  /** The turn did not end in time, or waits for a user. */
  waiting: 6,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends a command with words for a user, a next step, and a code. */
export class CliFailure extends Error {
  override readonly name = 'CliFailure';
  readonly exitCode: ExitCode;
  /** The next step for the user. */
  readonly next: string | null;
  /** The API's code of the refusal, where there is one. */
  readonly code: string | null;

  constructor(exitCode: ExitCode, message: string, next: string | null = null, code: string | null = null) {
    super(message);
    this.exitCode = exitCode;
    this.next = next;
    this.code = code;
  }
}

export const wrongUsage = (message: string, next?: string): CliFailure =>
  new CliFailure(exitCodes.usage, message, next);
