// A thread begins, and loads its tools before its first completion is requested.
import type { StableRefusal } from '../decision.ts';
import type { LoadToolsets } from '../effect.ts';
import type { Draft } from '../draft.ts';
import { text } from '../content.ts';
import type { LoadedToolset } from '../toolset.ts';
import type { Event } from '../event.ts';
import { type Childhood, inputIds } from '../input.ts';
import type { RefreshToolsetsRequest, ThreadOpening, ToolsetsResult } from '../input.ts';
import { openQueuedChildren } from './child.ts';
import { refuseRequest } from './refusal.ts';
import { acceptMessages, wake } from './wake.ts';

export function openThread(draft: Draft, input: ThreadOpening): StableRefusal | void {
  if (draft.thread.status !== 'unopened') return 'ALREADY_OPEN';
  const { agent, userId, title } = input;
  const { name, version, model, toolServers, policies, limits } = agent;
  const opened = { agent: { name, version }, model, toolServers, policies, limits, userId, title };
  if (input.child !== undefined) return openChild(draft, opened, input.child);
  draft.emit({ type: 'ThreadOpened', ...opened });
  if (input.fork !== undefined) draft.emit({ type: 'ThreadForked', ...input.fork });
  if (toolServers.length > 0) loadToolsets(draft);
  if (input.message !== null) acceptMessages(draft, [input.message]);
  wake(draft);
}

type Opened = Omit<Event<'ThreadOpened'>, 'type' | 'turnId' | 'cause'>;

/** A child has its family's tools and begins with what it was spawned for. R23, R74 */
function openChild(draft: Draft, opened: Opened, child: Childhood): void {
  const { parent, ancestors, spawnedBy, toolsets, events, instructions, baseUrls } = child;
  draft.emit({ type: 'ThreadOpened', ...opened, parent, ancestors, spawnedBy, ...(baseUrls && { baseUrls }) });
  draft.emit({ type: 'ToolsetsLoaded', toolsets, withheld: [] });
  for (const event of events)
    draft.emit({ type: 'SubscriptionEventReceived', ...event, associative: false, into: 'thread', childId: null });
  const messageId = `msg_${draft.thread.id.slice(draft.thread.id.indexOf('_') + 1)}`;
  if (instructions !== null) acceptMessages(draft, [{ messageId, content: [text(instructions)] }]);
  wake(draft);
}

export function refreshToolsets(draft: Draft, input: RefreshToolsetsRequest): void {
  if (draft.thread.toolServers.length === 0)
    return refuseRequest(draft, input, 'TOOLSET_INVALID', 'the agent of this thread has no tool servers');
  if (draft.thread.migrating !== null)
    return refuseRequest(draft, input, 'CALLS_PENDING', 'a migration is running, and loads the toolsets at its end');
  loadToolsets(draft);
}

export function loadToolsets(draft: Draft, cause: Pick<LoadToolsets, 'afterChange'> = {}): void {
  const { toolServers } = draft.thread;
  const loadId = draft.mint('tsl');
  draft.emit({ type: 'ToolsetsRequested', loadId, toolServers });
  draft.owe({ do: 'LoadToolsets', id: inputIds.toolsets(loadId), loadId, toolServers, ...cause });
}

export function recordToolsets(draft: Draft, input: ToolsetsResult): StableRefusal | void {
  if (draft.thread.loading !== input.loadId) return 'NOT_LOADING';
  const before = draft.thread.toolsets;
  draft.emit({ type: 'ToolsetsLoaded', toolsets: input.toolsets, withheld: input.withheld });
  for (const toolset of input.toolsets) noteChange(draft, before, toolset);
  for (const { toolServer, code, problems } of input.rejected)
    draft.emit({ type: 'ToolsetRejected', toolServer, code, problems });
  openQueuedChildren(draft);
  wake(draft);
}

/** A manifest that differs from the one this thread had: reported once, by name. R107 */
function noteChange(draft: Draft, before: readonly LoadedToolset[], now: LoadedToolset): void {
  const old = before.find((toolset) => toolset.toolServer === now.toolServer);
  if (old === undefined || old.sha256 === now.sha256) return;
  const added = now.tools.filter((name) => !old.tools.includes(name));
  const removed = old.tools.filter((name) => !now.tools.includes(name));
  const changed = now.tools.filter(
    (name) => old.tools.includes(name) && definitionOf(old, name) !== definitionOf(now, name),
  );
  draft.emit({ type: 'ToolsetChanged', toolServer: now.toolServer, added, removed, changed });
}

const definitionOf = ({ tools, definitions }: LoadedToolset, name: string): string | undefined =>
  definitions?.[tools.indexOf(name)];
