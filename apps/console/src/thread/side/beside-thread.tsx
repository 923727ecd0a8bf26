// Another thread beside this one: the branch that a fork came from, with its own conversation.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import type { Schemas } from '@dormouse/client';
import { threadAt } from '../../api/queries.ts';
import { Button } from '../../elements/button.tsx';
import { plainLine } from '../../elements/plain-text.ts';
import { Pending } from '../../elements/states.tsx';
import { StatusBadge } from '../../elements/status-badge.tsx';
import { Conversation } from '../conversation/conversation.tsx';
import { ThreadContext, useThreadView } from '../thread-context.ts';
import { useLiveState, useLiveThread, useLogVersion } from '../log/use-live-thread.ts';

export function BesideThread({ threadId }: { readonly threadId: string }): ReactElement {
  const { data, error } = useQuery(threadAt(threadId));
  return (
    <section className="pane pane-side" aria-label="The other branch">
      {data?.id === threadId ? (
        <Branch key={threadId} thread={data} />
      ) : (
        <Pending what="the other branch" error={error} />
      )}
    </section>
  );
}

function Branch({ thread }: { readonly thread: Schemas['Thread'] }): ReactElement {
  const outer = useThreadView();
  const live = useLiveThread(thread.id, thread.position);
  const state = useLiveState(live);
  useLogVersion(live.log);
  return (
    <ThreadContext
      value={{ ...outer, thread, live, state, length: live.log.length, at: undefined, selected: undefined }}
    >
      <header className="row branch-head">
        <StatusBadge status={state.status ?? thread.status} />
        <Link to="/threads/$threadId" params={{ threadId: thread.id }}>
          <bdi>{plainLine(thread.title ?? thread.id, 80)}</bdi>
        </Link>
        <Button className="end" onClick={() => outer.change({ beside: undefined })}>
          Show the timeline
        </Button>
      </header>
      <Conversation />
    </ThreadContext>
  );
}
