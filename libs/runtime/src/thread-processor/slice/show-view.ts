// A view update: stored for its thread and shown to its watchers; no decision, no commit. RAP view-updates
//
// Invariants:
//   Y1. Updates of one thread are stored in the order of their arrival, because they pass through its lane. R95
//   Y2. A thread that was never opened, or that is closed, has no views. R99
import { finish } from './settle.ts';
import type { LaneMemory, SliceDeps } from './slice-deps.ts';
import type { ViewItem } from './slice-item.ts';

export async function showView(deps: SliceDeps, lane: LaneMemory, item: ViewItem, isOpen: boolean): Promise<ViewItem> {
  if (isOpen) {
    const { viewType, content } = item.update;
    await deps.views.put(lane.key, { viewType, content });
    deps.feed.publish(lane.key, { hint: 'view', view: { viewType, content } });
  }
  finish(lane, item, null);
  return item;
}
