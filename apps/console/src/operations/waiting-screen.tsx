// What threads wait for beside people: times, tools, subscriptions, schedules, over all open threads.
import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactElement, type ReactNode } from 'react';
import { api, ask } from '../api/client.ts';
import { schedules, threadAt, threadList } from '../api/queries.ts';
import { Button } from '../elements/button.tsx';
import { plainLine } from '../elements/plain-text.ts';
import { RequestButton } from '../elements/request-button.tsx';
import { Empty, Pending } from '../elements/states.tsx';
import { WaitingFor } from '../elements/status-badge.tsx';
import { ScreenHead } from '../shell/screen-head.tsx';
import { CancelSubscription } from '../thread/side/cancel-subscription.tsx';
import { When } from '../elements/when.tsx';

/** Threads that are looked into at first. */
const threadsShown = 40;

export function WaitingScreen(): ReactElement {
  const [shown, setShown] = useState(threadsShown);
  const { data, error, refetch } = useQuery(threadList({}, Math.ceil(shown / 100)));
  const open = (data?.rows ?? []).filter(({ status }) => status !== 'closed');
  const looked = open.slice(0, shown);
  const threads = useQueries({ queries: looked.map(({ id }) => threadAt(id)) }).flatMap(
    ({ data: thread }) => thread ?? [],
  );
  const planned = useQueries({ queries: looked.map(({ id }) => schedules(id)) });
  const waits = threads.flatMap((thread) => thread.waiting_on.map((entry) => ({ thread, entry })));
  const subscriptions = threads.flatMap((thread) =>
    thread.subscriptions.map((subscription) => ({ thread, subscription })),
  );
  const crons = looked.flatMap((row, index) =>
    (planned[index]?.data?.data ?? []).map((schedule) => ({ row, schedule })),
  );
  const isNothing = waits.length + subscriptions.length + crons.length === 0;
  return (
    <>
      <ScreenHead title="Waiting" path="/v1/threads?status=waiting" />
      <div className="screen-body">
        {data === undefined ? <Pending what="threads" error={error} again={() => void refetch()} /> : null}
        {data !== undefined && isNothing ? (
          <Empty title="No thread waits for anything">
            <p>
              Subscriptions, schedules and timers of all open threads are here. Try it: ask the example agent to sleep
              for 3 days, or to remind you.
            </p>
          </Empty>
        ) : null}
        <Section title="Timers and calls" rows={waits}>
          {({ thread, entry }) => (
            <tr key={`${thread.id} ${entry.id}`}>
              <ThreadCell id={thread.id} title={thread.title} />
              <td>
                <WaitingFor entry={entry} more={0} />
              </td>
              <td className="quiet">{entry.deadline === undefined ? '' : <When at={entry.deadline} />}</td>
            </tr>
          )}
        </Section>
        <Section title="Subscriptions" rows={subscriptions}>
          {({ thread, subscription: { tool_call_id: call, operation, events, last_event_at: last } }) => (
            <tr key={call}>
              <ThreadCell id={thread.id} title={thread.title} />
              <td>
                <code>{plainLine(operation, 60)}</code> <span className="quiet">{events} events</span>
                {last === null ? null : (
                  <span className="quiet">
                    , the last <When at={last} />
                  </span>
                )}
              </td>
              <td>
                <CancelSubscription thread={thread.id} call={call} />
              </td>
            </tr>
          )}
        </Section>
        <Section title="Schedules" rows={crons}>
          {({ row, schedule: { id, cron, time_zone: zone, message, next_at: next } }) => (
            <tr key={id}>
              <ThreadCell id={row.id} title={row.title} />
              <td>
                <code>{cron}</code> <span className="quiet">{zone}</span> {plainLine(message, 80)}
                {next === null ? null : (
                  <span className="quiet">
                    , next <When at={next} />
                  </span>
                )}
              </td>
              <td>
                <RequestButton
                  label="Remove"
                  done="The schedule is removed"
                  request={() =>
                    ask(
                      api.DELETE('/v1/threads/{id}/schedules/{schedule}', {
                        params: { path: { id: row.id, schedule: id } },
                      }),
                    )
                  }
                />
              </td>
            </tr>
          )}
        </Section>
        {open.length > shown || data?.hasMore === true ? (
          <Button className="more" onClick={() => setShown(shown + threadsShown)}>
            Look into more threads
          </Button>
        ) : null}
      </div>
    </>
  );
}

function Section<Row>({
  title,
  rows,
  children,
}: {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly children: (row: Row) => ReactNode;
}): ReactElement | null {
  if (rows.length === 0) return null;
  return (
    <section className="card scroll-x" tabIndex={0} aria-label={title}>
      <h2>
        {title} <span className="quiet">{rows.length}</span>
      </h2>
      <table className="table">
        <thead className="visually-hidden">
          <tr>
            <th scope="col">Thread</th>
            <th scope="col">What</th>
            <th scope="col">Until, or what to do</th>
          </tr>
        </thead>
        <tbody>{rows.map(children)}</tbody>
      </table>
    </section>
  );
}

const ThreadCell = ({ id, title }: { readonly id: string; readonly title: string | null }): ReactElement => (
  <td>
    <Link to="/threads/$threadId" params={{ threadId: id }}>
      <bdi>{plainLine(title ?? id, 60)}</bdi>
    </Link>
  </td>
);
