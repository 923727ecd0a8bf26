// The contract of `Snapshots`, for every adapter. They may be lost at any moment (I-17), but never be wrong.
//
//   S1. `latest` answers a snapshot that was put for this thread, unchanged, or null.
//   S2. An older version never replaces a newer one of the same shape.
import { describe, expect, it } from 'vitest';
import { tenantId, type Snapshot, type Snapshots } from '../index.ts';
import { freshKey } from './samples.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

export function snapshotsContract(name: string, make: () => Promise<UnderTest<Snapshots>>): void {
  describe(`Snapshots contract: ${name}`, () => {
    const opened = openedOnce(make);
    const snapshot = (version: number): Snapshot => ({
      version,
      shape: 1,
      state: JSON.stringify({ version, text: '🐢 \u0000' }),
    });

    it('S1: what was put comes back unchanged, for this thread only', async () => {
      const snapshots = await opened.get();
      const key = freshKey();
      expect(await snapshots.latest(key)).toBeNull();
      await snapshots.put(key, snapshot(200));
      expect(await snapshots.latest(key)).toEqual(snapshot(200));
      expect(await snapshots.latest({ ...key, tenant: tenantId('zenith') })).toBeNull();
      expect(await snapshots.latest(freshKey())).toBeNull();
    });

    it('S2: the newest stays, in whatever order they come', async () => {
      const snapshots = await opened.get();
      const key = freshKey();
      await Promise.all([200, 600, 400].map((version) => snapshots.put(key, snapshot(version))));
      expect(await snapshots.latest(key)).toEqual(snapshot(600));
      await snapshots.put(key, snapshot(599));
      expect(await snapshots.latest(key)).toEqual(snapshot(600));
    });
  });
}
