// Snapshots and views with sealed contents. What was stored for a family that is erased is not there any more.
import { isCleared, type Snapshots, type ThreadKey, type Views } from '@dormouse/ports';
import type { ContentSeal, Place } from './content-seal.ts';
import type { ThreadFamily } from './thread-family.ts';

export interface SealingDeps {
  readonly seal: ContentSeal;
  readonly families: ThreadFamily;
}

export function sealedSnapshots(snapshots: Snapshots, { seal, families }: SealingDeps): Snapshots {
  const placeOf = ({ thread }: ThreadKey): Place => ['snapshot', thread];
  return {
    async latest(key) {
      const stored = await snapshots.latest(key);
      if (stored === null) return null;
      const state = await seal.open(key.tenant, placeOf(key), stored.state);
      return state === null ? null : { ...stored, state };
    },
    async put(key, snapshot) {
      const state = await seal.seal(key.tenant, await families.of(key), placeOf(key), snapshot.state);
      if (state !== null) await snapshots.put(key, { ...snapshot, state });
    },
  };
}

export function sealedViews(views: Views, { seal, families }: SealingDeps): Views {
  const placeOf = ({ thread }: ThreadKey, viewType: string): Place => ['view', thread, viewType];
  return {
    async put(key, view) {
      if (isCleared(view)) return views.put(key, view);
      const place = placeOf(key, view.viewType);
      const content = await seal.seal(key.tenant, await families.of(key), place, view.content);
      if (content !== null) await views.put(key, { ...view, content });
    },
    async list(key) {
      const stored = await views.list(key);
      const sealed = stored.map(({ viewType, content }) => ({ place: placeOf(key, viewType), text: content }));
      const contents = await seal.openAll(key.tenant, sealed);
      return stored.flatMap((view, index) => {
        const content = contents[index] ?? null;
        return content === null ? [] : [{ ...view, content }];
      });
    },
  };
}
