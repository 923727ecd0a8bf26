// Threads that an input has poisoned: why, what waits for each, replay them, leave an input out.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { api, ask } from '../api/client.ts';
import { parkedThread, parkedThreads } from '../api/queries.ts';
import { CurlButton } from '../elements/copy-button.tsx';
import { plainLine, plainText } from '../elements/plain-text.ts';
import { RequestButton } from '../elements/request-button.tsx';
import { Empty, Pending } from '../elements/states.tsx';
import { When } from '../elements/when.tsx';
import { ScreenHead } from '../shell/screen-head.tsx';

const route = getRouteApi('/parked');

export function ParkedScreen(): ReactElement {
  const { thread } = route.useSearch();
  const { data, error, refetch } = useQuery(parkedThreads);
  return (
    <>
      <ScreenHead title="Parked" path="/v1/parked" />
      <div className="screen-body">
        {data === undefined ? <Pending what="parked threads" error={error} again={() => void refetch()} /> : null}
        {data?.length === 0 ? (
          <Empty title="No thread is parked">
            <p>
              A thread whose input cannot be processed is parked alone: it waits here, with its reason, until you replay
              it or leave that input out.
            </p>
          </Empty>
        ) : null}
        {data === undefined || data.length === 0 ? null : (
          <div className="split">
            <ul className="plain-list" aria-label="Parked threads">
              {data.map(({ thread_id: id, reason, parked_at: at, state }) => (
                <li key={id}>
                  <Link to="/parked" search={{ thread: id }} replace className="card tile" aria-current={id === thread}>
                    <code>{id}</code>
                    <span>{plainLine(reason, 160)}</span>
                    <span className="quiet">
                      {state}, <When at={at} />
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
            {thread === undefined ? (
              <p className="quiet pad">Choose a thread to see what waits for it.</p>
            ) : (
              <Details key={thread} thread={thread} />
            )}
          </div>
        )}
      </div>
    </>
  );
}

function Details({ thread }: { readonly thread: string }): ReactElement {
  const { data, error } = useQuery(parkedThread(thread));
  if (data === undefined) return <Pending what="the thread" error={error} />;
  const path = { params: { path: { thread } } };
  return (
    <section className="card stack" aria-label="A parked thread">
      <div className="row">
        <Link to="/threads/$threadId" params={{ threadId: thread }}>
          Open the thread
        </Link>
        <CurlButton path={`/v1/parked/${thread}`} />
        <RequestButton
          kind="main"
          isLast
          label="Replay"
          done="The thread goes on"
          request={() => ask(api.POST('/v1/parked/{thread}/replay', path))}
        />
      </div>
      <p className="problem">{plainText(data.reason)}</p>
      <h2>What waits for it, in order</h2>
      <ol className="plain-list">
        {data.inputs.map(({ id, kind, dropped_at: dropped }) => (
          <li key={id} className="row">
            <span>{plainLine(kind, 60)}</span>
            <code className="grow">{plainLine(id, 100)}</code>
            {dropped === null ? (
              <RequestButton
                kind="danger"
                label="Drop"
                done="The input is left out of every replay"
                request={() => ask(api.POST('/v1/parked/{thread}/drop', { ...path, body: { input: id } }))}
              />
            ) : (
              <span className="quiet">
                dropped <When at={dropped} />
              </span>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
