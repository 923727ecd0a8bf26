// Snapshots in memory: the newest per thread. Clearing the store at any moment loses nothing. I-17
import type { Snapshot, Snapshots } from '@dormouse/ports';
import type { Passage } from '../gate.ts';
import { nameOf } from './thread-log.ts';

export type SnapshotStore = Map<string, Snapshot>;

export function createSnapshots(snapshots: SnapshotStore, passage: Passage): Snapshots {
  return {
    latest: (key) => passage.read('snapshots.latest', nameOf(key), () => snapshots.get(nameOf(key)) ?? null),
    put: (key, snapshot) =>
      passage.write('snapshots.put', nameOf(key), () => {
        const known = snapshots.get(nameOf(key));
        if (known === undefined || known.version <= snapshot.version) snapshots.set(nameOf(key), snapshot);
      }),
  };
}
