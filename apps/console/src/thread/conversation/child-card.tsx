// A child thread inside its parent's conversation: its own conversation, one level deep, when it is opened.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactElement } from 'react';
import { messages, threadAt } from '../../api/queries.ts';
import { Icon } from '../../elements/icon.tsx';
import { plainText } from '../../elements/plain-text.ts';
import { StatusBadge } from '../../elements/status-badge.tsx';

export function ChildCard({ childId, text }: { readonly childId: string; readonly text: string }): ReactElement {
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="child">
      {text === '' ? null : (
        <p className="plain" dir="auto">
          {plainText(text)}
        </p>
      )}
      <div className="row">
        <button type="button" className="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Icon name="child" /> {isOpen ? 'Hide' : 'Show'} the child’s conversation
        </button>
        <Link to="/threads/$threadId" params={{ threadId: childId }}>
          Open the child
        </Link>
      </div>
      {isOpen ? <ChildConversation childId={childId} /> : null}
    </div>
  );
}

function ChildConversation({ childId }: { readonly childId: string }): ReactElement {
  const { data: child } = useQuery(threadAt(childId));
  const { data } = useQuery(messages(childId));
  return (
    <div className="child-conversation stack">
      {child === undefined ? null : <StatusBadge status={child.status} />}
      {(data?.data ?? []).map(({ position, thread_id: thread, role, text, operation }) => (
        <p key={`${thread ?? ''} ${position}`} className="plain" dir="auto">
          <span className="author">{operation ?? role}</span> {plainText(text)}
        </p>
      ))}
    </div>
  );
}
