// Writes snapshots now and then, off the path: so that a load folds a bounded number of events. I-17
import type { Logger, Snapshots, ThreadKey } from '@dormouse/ports';
import { encodeSnapshot, snapshotShape } from '../../log/thread-reader.ts';
import { noTraceState } from '../../tracing/trace-state.ts';
import type { ThreadState } from './thread-state.ts';

/** The newest messages that a snapshot keeps, at most, and what they may weigh on the heap. */
const recentMax = 32;
const recentBytesMax = 65_536;

export interface SnapshotWriter {
  /** Begins a snapshot when one is due; answers the state to remember. */
  consider(key: ThreadKey, state: ThreadState): ThreadState;
  /** Resolves when no write is under way. */
  settled(): Promise<void>;
}

export function createSnapshotWriter(deps: {
  readonly snapshots: Snapshots;
  readonly logger: Logger;
  readonly settings: { readonly snapshotEveryEvents: number; readonly snapshotBytes: number };
}): SnapshotWriter {
  const { snapshotEveryEvents, snapshotBytes } = deps.settings;
  const writing = new Set<Promise<void>>();

  async function write(key: ThreadKey, version: number, state: string): Promise<void> {
    try {
      await deps.snapshots.put(key, { version, shape: snapshotShape, state });
    } catch (error) {
      deps.logger.warn('snapshot_failed', { ...key, version, error: String(error) }); // the next one will do
    }
  }

  return {
    consider: (key, state) => {
      const version = state.thread.position;
      const isDue =
        version - state.snapshot.version >= snapshotEveryEvents || state.snapshot.bytesSince >= snapshotBytes;
      if (!isDue) return state;
      const { thread, tail, lastHash, messages } = state;
      const trace = state.trace === noTraceState ? undefined : state.trace;
      const recent = messages.newest(tail.length, recentMax, recentBytesMax);
      const encoded = encodeSnapshot({ thread, tail, lastHash, trace, recent });
      const written = write(key, version, encoded);
      writing.add(written);
      void written.then(() => writing.delete(written));
      return { ...state, snapshot: { version, bytesSince: 0 } };
    },
    settled: async () => {
      await Promise.all(writing);
    },
  };
}
