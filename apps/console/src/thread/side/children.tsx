// The threads that this thread has opened.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { children } from '../../api/queries.ts';
import { plainLine } from '../../elements/plain-text.ts';
import { Empty, Pending } from '../../elements/states.tsx';
import { FirstWait, StatusBadge } from '../../elements/status-badge.tsx';
import { When } from '../../elements/when.tsx';
import { useThreadView } from '../thread-context.ts';

export function Children(): ReactElement {
  const { thread } = useThreadView();
  const { data, error } = useQuery(children(thread.id));
  if (data === undefined) return <Pending what="children" error={error} />;
  if (data.data.length === 0)
    return (
      <Empty title="No child thread">
        <p>An agent spawns children for work of their own, and events of a subscription can open one each.</p>
      </Empty>
    );
  return (
    <ul className="plain-list pad">
      {data.data.map(({ id, title, status, updated_at: updatedAt, waiting_on: waitingOn }) => (
        <li key={id}>
          <Link to="/threads/$threadId" params={{ threadId: id }} className="row card">
            <StatusBadge status={status} />
            <bdi className="grow">{plainLine(title ?? id, 120)}</bdi>
            <FirstWait waitingOn={waitingOn} />
            <span className="quiet">
              <When at={updatedAt} />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
