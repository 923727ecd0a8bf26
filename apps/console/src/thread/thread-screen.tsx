// One thread: the conversation on the left, what happened on the right, one selection for both.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useEffect, type ReactElement } from 'react';
import type { Schemas } from '@dormouse/client';
import { queries, threadAt } from '../api/queries.ts';
import { Failed, Pending } from '../elements/states.tsx';
import { Announcer } from './announcer.tsx';
import { Composer } from './conversation/composer.tsx';
import { Conversation } from './conversation/conversation.tsx';
import { NewTools } from './conversation/new-tools.tsx';
import { OpenQuestions } from './conversation/open-questions.tsx';
import { PositionSlider } from './position-slider.tsx';
import { SidePane } from './side/side-pane.tsx';
import { ThreadHead } from './thread-head.tsx';
import type { LiveState } from './log/live-thread.ts';
import { useLiveState, useLiveThread, useLogVersion } from './log/use-live-thread.ts';
import { ThreadContext, type ThreadView } from './thread-context.ts';
import { BesideThread } from './side/beside-thread.tsx';

const route = getRouteApi('/threads/$threadId');

export function ThreadScreen(): ReactElement {
  const { threadId } = route.useParams();
  const { data, error, refetch } = useQuery(threadAt(threadId));
  if (data?.id === threadId) return <OpenThread key={threadId} thread={data} />;
  return <Pending what="the thread" error={error} again={() => void refetch()} />;
}

function OpenThread({ thread: now }: { readonly thread: Schemas['Thread'] }): ReactElement {
  const { p: selected, at, tab, beside } = route.useSearch();
  const navigate = useNavigate();
  const live = useLiveThread(now.id, now.position);
  const state = useLiveState(live);
  useLogVersion(live.log);
  useFreshFacts(now.id, state);
  const { data: past } = useQuery({ ...threadAt(now.id, at), enabled: at !== undefined });
  const length = Math.min(at ?? live.log.length, live.log.length);
  const view: ThreadView = {
    thread: at === undefined || past === undefined ? now : past,
    live,
    state,
    length,
    at,
    selected,
    tab: tab ?? 'events',
    change: (change, options = {}) =>
      void navigate({
        to: '/threads/$threadId',
        params: { threadId: now.id },
        search: (before) => ({ ...before, ...change }),
        replace: options.replace ?? true,
      }),
  };
  return (
    <ThreadContext value={view}>
      <div className="thread-screen">
        <ThreadHead />
        {state.connection === 'failed' ? <Failed error={state.failure} /> : null}
        <Announcer />
        <PositionSlider />
        <div className="thread-panes">
          <section className="pane pane-conversation" aria-label="Conversation">
            <Conversation />
            <NewTools />
            <OpenQuestions />
            <Composer />
          </section>
          {beside === undefined ? <SidePane /> : <BesideThread threadId={beside} />}
        </div>
      </div>
    </ThreadContext>
  );
}

/** What the stream does not have, such as the sentence for what it waits for, is read again when that may change. */
function useFreshFacts(thread: string, { status, waitingOn, changedAt }: LiveState): void {
  const waits = waitingOn.map(({ id }) => id).join(' ');
  useEffect(() => {
    if (status !== null) void queries.invalidateQueries({ queryKey: threadAt(thread).queryKey });
  }, [thread, status, waits, changedAt]);
}
