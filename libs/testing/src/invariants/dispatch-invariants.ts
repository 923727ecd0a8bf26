// What tool servers received, compared with what the log says they should have received. I-05 to I-09, I-11
import { ofType, type Reading, repeated, stableText } from './reading.ts';

/** I-05: every POST is a committed call, with its id, thread, operation and arguments. */
export function postsAreCommitted({ history, calls }: Reading): readonly string[] {
  return history.posts.flatMap((post) => {
    const call = calls.get(post.toolCallId);
    if (call === undefined) return [`${post.toolCallId} was POSTed and is not in any log`];
    const { requested, thread } = call;
    const same =
      thread.key.thread === post.thread &&
      requested.operation === post.operation &&
      requested.toolServer === post.toolServer &&
      stableText(requested.arguments) === stableText(post.arguments);
    return same
      ? []
      : [`${post.toolCallId} was POSTed with another thread, server, operation or arguments than committed`];
  });
}

/** I-06: two calls never share an id, and one call is never POSTed under two. */
export function idsAreUnique({ history, threads }: Reading): readonly string[] {
  const requested = threads.flatMap((thread) =>
    thread.events.flatMap(({ event }) =>
      event.type === 'ToolCallRequested'
        ? [{ id: event.toolCallId, what: stableText([thread.key.thread, event.operation, event.arguments]) }]
        : [],
    ),
  );
  const shared = repeated(requested.map(({ id }) => id)).map((id) => `two calls share the id ${id}`);
  const committed = Map.groupBy(requested, ({ what }) => what);
  const posted = Map.groupBy(history.posts, (post) => stableText([post.thread, post.operation, post.arguments]));
  const doubled = [...posted].filter(
    ([what, posts]) =>
      new Set(posts.map((post) => post.toolCallId)).size > Math.max(1, committed.get(what)?.length ?? 0),
  );
  return [
    ...shared,
    ...doubled.map(([what, posts]) => `${what} was POSTed under ${posts.map((post) => post.toolCallId).join(' and ')}`),
  ];
}

/**
 * I-07: at most one POST of an at-most-once call, at most one notice per server and subject; one more when a
 * subscription was confirmed after its call had been given up, because its server needs a notice for that too.
 */
export function onceIsOnce({ history, calls, threads }: Reading): readonly string[] {
  const amo = history.posts
    .map((post) => post.toolCallId)
    .filter((id) => calls.get(id)?.invocation?.delivery === 'at_most_once');
  const late = new Set(
    threads.flatMap((thread) => ofType(thread, 'ToolCallLateResult').map((event) => event.toolCallId)),
  );
  const allowed = (subject: string): number => (late.has(subject) ? 2 : 1);
  const sent = Map.groupBy(
    history.notices,
    ({ toolServer, notice, subject }) => `${notice} of ${subject} to ${toolServer}`,
  );
  return [
    ...repeated(amo).map((id) => `at-most-once call ${id} was POSTed twice`),
    ...[...sent].flatMap(([name, all]) =>
      all.length > allowed(all[0]?.subject ?? '') ? [`${name} was sent twice`] : [],
    ),
  ];
}

/** I-08: a sender that looked up the outcome after a 4xx was recorded does not POST. */
export function noPostAfterRecordedRefusal({ history }: Reading): readonly string[] {
  const recorded = new Map(history.recordedRefusals.map(({ toolCallId, recordedAt }) => [toolCallId, recordedAt]));
  return history.posts
    .filter((post) => post.lookedUpAt > (recorded.get(post.toolCallId) ?? Number.POSITIVE_INFINITY))
    .map((post) => `${post.toolCallId} was POSTed after its 4xx was recorded`);
}

/** I-09: no committed call is dropped silently: it was sent, or the log says why not. One may end while it is held. */
export function noSilentDrop({ history, calls }: Reading): readonly string[] {
  if (history.unrest === null || history.handedOver === null) return [];
  const posted = new Set(history.posts.map((post) => post.toolCallId));
  const { handedOver } = history;
  return [...calls].flatMap(([id, { thread, invocation, settled }]) => {
    if (invocation === null || posted.has(id) || handedOver.has(id)) return [];
    const outcome = settled[0]?.outcome;
    const endedHeld = outcome === 'timed_out' && history.held.has(thread.key.thread);
    return outcome === 'interrupted' || outcome === 'denied' || endedHeld
      ? []
      : [`${id} (${outcome ?? 'open'}) was never handed to the dispatcher`];
  });
}

/** I-11: what settled a call as a result was sent for this call, by its server, with a token of its own. */
export function resultsAreLegitimate({ history, calls }: Reading): readonly string[] {
  if (history.callbacks.length === 0) return [];
  const sent = Map.groupBy(
    history.callbacks.filter(({ type }) => type === 'tool_result'),
    ({ toolCallId }) => toolCallId,
  );
  return [...calls].flatMap(([id, { requested, settled }]) =>
    (requested.toolServer === null ? [] : settled) // the runtime's own tools send no callbacks
      .filter((event) => event.outcome === 'result')
      .flatMap((event) => {
        const said = JSON.stringify(event.content);
        const origin = (sent.get(id) ?? []).filter(({ text }) => said.includes(text));
        if (origin.some(({ legitimate }) => legitimate)) return [];
        return [
          origin.length > 0
            ? `${id} was settled by a forged result`
            : `${id} was settled by a result that nobody sent for it`,
        ];
      }),
  );
}
