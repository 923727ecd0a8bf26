// The current views of threads: the newest content of each type, opaque. Not history, no commit. RAP view-updates
//
// Contract (contracts/views.contract.ts):
//   V1. The last `put` of a type is what is read, character for character; `{}` clears it. R95, R98
//   V2. A thread has at most `viewsMax` types; a further one replaces the one whose last change is the oldest.
import type { ThreadKey } from '../log/thread-key.ts';

export interface View {
  readonly viewType: string;
  /** JSON text of an object, as its tool server wrote it. */
  readonly content: string;
}

export interface Views {
  /** Resolves when durable. */
  put(key: ThreadKey, view: View): Promise<void>;
  /** By type. */
  list(key: ThreadKey): Promise<readonly View[]>;
}

export const viewsMax = 50;

/** Content that clears a view. */
export const isCleared = ({ content }: View): boolean => /^\s*\{\s*\}\s*$/.test(content);
