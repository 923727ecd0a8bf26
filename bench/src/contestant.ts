// A contestant: a system that can be started, opens threads, and answers messages to them over HTTP.
import type { Target } from './driver-job.ts';

export interface Contestant {
  readonly name: string;
  /** Its name, and what of a turn is on disk when the answer comes, in a few words. */
  readonly is: string;
  readonly durable: string;
  start(setting: Setting): Promise<Running>;
}

export interface Setting {
  /** Base URL of the tool server. */
  readonly tools: string;
  /** For data and output; new and empty. */
  readonly directory: string;
}

export interface Running {
  readonly name: string;
  /** Every process that works for it. */
  readonly pids: readonly number[];
  /** New threads whose one-tool turns end in `done: <token>`. */
  openThreads(count: number): Promise<readonly Target[]>;
  stop(): Promise<void>;
}

/** More turns than any run has. */
export const turnsUnlimited = 1_000_000_000;

/** The message of every one-tool turn, and what its answer must contain. */
export const oneToolTurn = {
  body: JSON.stringify({ text: 'Please do this work: "{token}"' }),
  expect: 'done: {token}',
  status: 200,
  turnsMax: turnsUnlimited,
} as const;
