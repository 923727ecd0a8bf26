// What a memory world reports to a checker.
import type { Commit, ThreadDelivery, WorkTopics } from '@dormouse/ports';

/** Called at the moment something happens; for checkers. */
export interface WorldObserver {
  appended(commit: Commit): void;
  /** A delivery was decided: by the commit at this version, or refused for good without one (null). */
  decided(node: string, delivery: ThreadDelivery, version: number | null): void;
  /** An effect was handed over to the work bus. */
  handedOver(node: string, message: WorkTopics[keyof WorkTopics]): void;
}
