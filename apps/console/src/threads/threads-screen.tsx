// All threads: filters that are the address, live status, what each waits for and since when.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState, type KeyboardEvent, type ReactElement } from 'react';
import type { ThreadRow } from '../api/client.ts';
import { threadList, threadQuery, type ThreadFilter } from '../api/queries.ts';
import { Button } from '../elements/button.tsx';
import { Icon } from '../elements/icon.tsx';
import { plainLine } from '../elements/plain-text.ts';
import { Empty, Pending } from '../elements/states.tsx';
import { FirstWait, StatusBadge } from '../elements/status-badge.tsx';
import { When } from '../elements/when.tsx';
import { useActions } from '../shell/actions.ts';
import { ScreenHead } from '../shell/screen-head.tsx';
import { ThreadFilters } from './thread-filters.tsx';

const NewThread = lazy(() => import('./new-thread.tsx').then((module) => ({ default: module.NewThread })));
const route = getRouteApi('/threads');

export function ThreadsScreen(): ReactElement {
  const { new: isNewOpen, ...filter } = route.useSearch();
  const navigate = useNavigate();
  const [pages, setPages] = useState(1);
  const { data, error, refetch } = useQuery(threadList(filter, pages));
  const openNew = (isOpen: boolean): void =>
    void navigate({ to: '/threads', search: { ...filter, ...(isOpen ? { new: true } : {}) }, replace: !isOpen });
  useActions('threads', [{ id: 'new', label: 'New thread', run: () => openNew(true) }]);
  return (
    <>
      <ScreenHead title="Threads" path={`/v1/threads?${threadQuery(filter)}`}>
        <Button kind="main" onClick={() => openNew(true)}>
          <Icon name="plus" /> New thread
        </Button>
      </ScreenHead>
      <ThreadFilters filter={filter} />
      {data === undefined ? (
        <Pending what="threads" error={error} again={() => void refetch()} />
      ) : data.rows.length === 0 ? (
        <NoThreads isFiltered={isFiltered(filter)} openNew={() => openNew(true)} />
      ) : (
        <Rows rows={data.rows} />
      )}
      {data?.hasMore === true ? (
        <Button className="more" onClick={() => setPages(pages + 1)}>
          Show more
        </Button>
      ) : null}
      {isNewOpen === true ? (
        <Suspense fallback={null}>
          <NewThread agent={filter.agent} close={() => openNew(false)} />
        </Suspense>
      ) : null}
    </>
  );
}

const isFiltered = (filter: ThreadFilter): boolean => Object.values(filter).some((value) => value !== undefined);

function NoThreads({
  isFiltered: filtered,
  openNew,
}: {
  readonly isFiltered: boolean;
  readonly openNew: () => void;
}): ReactElement {
  if (filtered)
    return (
      <Empty title="No thread fits these filters">
        <Link to="/threads" className="button">
          Show all threads
        </Link>
      </Empty>
    );
  return (
    <Empty title="No thread yet">
      <p>A thread is one conversation with an agent. Open one here, or with the API.</p>
      <Button kind="main" onClick={openNew}>
        <Icon name="plus" /> New thread
      </Button>
    </Empty>
  );
}

function Rows({ rows }: { readonly rows: readonly ThreadRow[] }): ReactElement {
  return (
    <ul className="thread-list" aria-label="Threads" onKeyDown={moveBetweenRows}>
      {rows.map((row) => (
        <Row key={row.id} row={row} />
      ))}
    </ul>
  );
}

function Row({ row }: { readonly row: ThreadRow }): ReactElement {
  const {
    id,
    title,
    status,
    agent,
    parent,
    user_id: user,
    updated_at: updatedAt,
    position,
    waiting_on: waitingOn,
  } = row;
  return (
    <li>
      <Link to="/threads/$threadId" params={{ threadId: id }} className="thread-row">
        <StatusBadge status={status} />
        <span className="thread-title">
          {parent === null ? null : <Icon name="child" />}
          <bdi>{title === null ? <span className="quiet">no message yet</span> : plainLine(title, 120)}</bdi>
        </span>
        <span className="thread-wait">
          <FirstWait waitingOn={waitingOn} isShort />
        </span>
        <span className="thread-agent quiet">
          <bdi>{plainLine(agent.name, 40)}</bdi> v{agent.version}
          {user === null ? null : <bdi> · {plainLine(user, 30)}</bdi>}
        </span>
        <span className="thread-position quiet" title="events">
          #{position}
        </span>
        <span className="thread-when quiet">
          <When at={updatedAt} />
        </span>
      </Link>
    </li>
  );
}

/** Arrow keys move between the rows, beside the tabulator. */
function moveBetweenRows(event: KeyboardEvent<HTMLUListElement>): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  if (step === 0) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('.thread-row')];
  const next = links[links.indexOf(document.activeElement as HTMLElement) + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}
