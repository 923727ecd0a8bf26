// A thread begins, and learns its tools before the model is asked for the first time.
import type { Decision } from '../decision.ts';
import type { Draft } from '../draft.ts';
import type { ThreadOpening, ToolsetsResult } from '../input.ts';
import { inputIds } from '../input.ts';
import { acceptMessages, wake } from './wake.ts';

export function openThread(draft: Draft, input: ThreadOpening): Decision {
  if (draft.thread.status !== 'unopened') return { committed: false, refusal: 'ALREADY_OPEN' };
  const { agent, userId, title } = input;
  const { name, version, model, toolServers, policies, limits } = agent;
  draft.emit({ type: 'ThreadOpened', agent: { name, version }, model, toolServers, policies, limits, userId, title });
  if (toolServers.length > 0) loadToolsets(draft);
  if (input.message !== null) acceptMessages(draft, [input.message]);
  wake(draft);
  return draft.decided();
}

export function loadToolsets(draft: Draft): void {
  const { toolServers } = draft.thread;
  const loadId = draft.mint('tsl');
  draft.emit({ type: 'ToolsetsRequested', loadId, toolServers });
  draft.owe({ do: 'LoadToolsets', id: inputIds.toolsets(loadId), loadId, toolServers });
}

export function recordToolsets(draft: Draft, input: ToolsetsResult): Decision {
  if (draft.thread.loading !== input.loadId) return { committed: false, refusal: 'NOT_LOADING' };
  draft.emit({ type: 'ToolsetsLoaded', toolsets: input.toolsets, withheld: input.withheld });
  for (const { toolServer, code, problems } of input.rejected)
    draft.emit({ type: 'ToolsetRejected', toolServer, code, problems });
  wake(draft);
  return draft.decided();
}
