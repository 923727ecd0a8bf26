// A child thread inside its parent's conversation: its own conversation, one level deep, when it is opened.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactElement } from 'react';
import { messages, threadAt } from '../../api/queries.ts';
import { Button } from '../../elements/button.tsx';
import { Icon } from '../../elements/icon.tsx';
import { Plain } from '../../elements/plain.tsx';
import { plainText } from '../../elements/plain-text.ts';
import { StatusBadge } from '../../elements/status-badge.tsx';

export function ChildCard({ childId, text }: { readonly childId: string; readonly text: string }): ReactElement {
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="child">
      {text === '' ? null : <Plain text={text} />}
      <div className="row">
        <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Icon name="child" /> {isOpen ? 'Hide' : 'Show'} the child’s conversation
        </Button>
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
