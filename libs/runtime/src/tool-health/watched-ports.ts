// The ports at which a process sees tool servers: the transport, and the place where the processor publishes commits.
//
// Invariant:
//   P1. A callback's time is that of a call which its tool server answered, an error of its own too. It runs from the
//       request of the call, or from the last answer of a person to it. A call whose login is open is left out: it may
//       have waited for the person.
import type { FoldedCommit, LiveFeed, ToolTransport, TenantId } from '@dormouse/ports';
import { callOf, type RecordedEvent } from '@dormouse/thread';
import type { Service } from '../service.ts';
import type { ToolWatch } from './tool-watch.ts';

/** `now`: milliseconds of a clock that never jumps; its beginning means nothing. */
export function watchedTransport(transport: ToolTransport, watch: ToolWatch, now: () => number): ToolTransport {
  return {
    ...transport,
    post: async (request) => {
      const from = now();
      const outcome = await transport.post(request);
      watch.posted(request.server, outcome, now() - from);
      return outcome;
    },
  };
}

export function watchedFeed(feed: LiveFeed, watch: ToolWatch): LiveFeed {
  return {
    ...feed,
    publish: (key, hint) => {
      if (hint.hint === 'committed' && hint.after !== undefined)
        for (const event of hint.after.events)
          if (event.type === 'ToolCallSettled') see(watch, key.tenant, hint.after, event, hint.commit.at);
      feed.publish(key, hint);
    },
  };
}

/** (P1) */
function see(
  watch: ToolWatch,
  tenant: TenantId,
  { before }: FoldedCommit,
  { toolCallId, outcome, code }: Extract<RecordedEvent, { readonly type: 'ToolCallSettled' }>,
  at: number,
): void {
  const isAnswer = outcome === 'result' || (outcome === 'error' && code === undefined);
  const call = isAnswer ? callOf(before, toolCallId) : undefined;
  if (call === undefined || call.toolServer === null || call.waiting.for !== 'result') return;
  watch.answered(tenant, call.toolServer, Math.max(0, at - (call.resumedAt ?? call.since)));
}

/** What a service saw is written after it has stopped. */
export function watchedService(service: Service, watch: ToolWatch): Service {
  return {
    start: () => service.start(),
    stop: async (withinMs) => {
      await service.stop(withinMs);
      await watch.flush();
    },
  };
}
