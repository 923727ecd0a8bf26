// Rewrites commits without their contents, and overwrites what was deleted.
//
// Contract (contracts/content-eraser.contract.ts):
//   C1. `rewrite` replaces kid, prev, hash and body of the commits that are there, and nothing else. Again is the same.
//   C2. After `scrub` no byte of what was deleted or replaced before is in what the store has on its disk, but for what
//       `traces` names.
import type { Commit } from '../log/thread-log.ts';

export interface ContentEraser {
  /** Of one thread. Resolves when durable. (C1) @throws Fault UNAVAILABLE */
  rewrite(commits: readonly Commit[]): Promise<void>;
  /**
   * (C2) `wasClear`: something of it was stored in the clear, by a release that did not overwrite what it deleted.
   * @throws Fault UNAVAILABLE when it could not be done now.
   */
  scrub(wasClear: boolean): Promise<void>;
  /** By kind of store: what has become of the bytes, and what is left until when, in words. */
  readonly traces: Readonly<Record<string, string>>;
}
