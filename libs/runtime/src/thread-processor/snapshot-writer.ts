// Writes snapshots now and then, off the path: so that a load folds a bounded number of events. I-17
import type { Logger, Snapshots, ThreadKey } from '@dormouse/ports';
import type { ModelMessage } from '@dormouse/thread';
import { encodeSnapshot, snapshotShape } from '../thread-reader.ts';
import type { ThreadState } from './thread-state.ts';

/** Messages that a snapshot keeps, at most, and what they may weigh. */
const recentMax = 32;
const recentBytesMax = 65_536;

export interface SnapshotWriter {
  /** Begins a snapshot when one is due; answers the state to remember. */
  consider(key: ThreadKey, state: ThreadState): ThreadState;
  /** Resolves when no write is on its way. */
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
      const { thread, tail, lastHash } = state;
      const encoded = encodeSnapshot({ thread, tail, lastHash, recent: recentMessages(state) });
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

/** The newest messages, as many as fit. */
function recentMessages({ messages, tail }: ThreadState): readonly ModelMessage[] {
  const kept = messages.slice(Math.max(messages.from, tail.length - recentMax), tail.length) ?? [];
  let from = kept.length;
  for (let bytes = 0; from > 0; from--) {
    bytes += JSON.stringify(kept[from - 1]).length;
    if (bytes > recentBytesMax) break;
  }
  return kept.slice(from);
}
