// Problems that the toolsets of a thread have.
import type { Event } from '../event.ts';
import type { Thread } from '../thread.ts';

export function staleToolsets(event: Event<'ToolsetsLoaded'>, since: number): Thread['problems'] {
  const stale = event.toolsets.filter((toolset) => toolset.stale);
  return stale.map((toolset) => ({
    code: 'TOOLSET_UNREACHABLE',
    detail: `${toolset.toolServer}: using the last good copy of its tools`,
    since,
  }));
}

export function withheldTools(event: Event<'ToolsetsLoaded'>, since: number): Thread['problems'] {
  return event.withheld.map((withheld) => ({
    code: 'TOOL_NAME_DUPLICATE',
    detail: `${withheld.tool}: ${withheld.reason}`,
    since,
  }));
}
