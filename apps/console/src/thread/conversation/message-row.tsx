// One row of the conversation. Its number selects it, here and in the timeline.
import { isEvent, type ThreadEvent } from '@dormouse/client';
import { lazy, memo, Suspense, type ReactElement, type ReactNode } from 'react';
import { Button } from '../../elements/button.tsx';
import { Icon } from '../../elements/icon.tsx';
import { plainText } from '../../elements/plain-text.ts';
import { CallCard } from './call-card.tsx';
import { ChildCard } from './child-card.tsx';
import { Content } from './content.tsx';
import type { Row } from './conversation-rows.ts';
import { eventLine, typeText } from '../log/event-line.ts';
import { useThreadView } from '../thread-context.ts';
import { When } from '../../elements/when.tsx';

const Markdown = lazy(() => import('../../elements/markdown.tsx').then((module) => ({ default: module.Markdown })));
type EventRow = Exclude<Row, { readonly kind: 'gap' }>;

export function MessageRow({ row }: { readonly row: EventRow }): ReactElement {
  const { selected } = useThreadView();
  return <SelectableRow row={row} isSelected={selected === row.position} />;
}

const SelectableRow = memo(function SelectableRow({
  row,
  isSelected,
}: {
  readonly row: EventRow;
  readonly isSelected: boolean;
}): ReactElement {
  const { kind, event, position } = row;
  if (kind === 'note')
    return (
      <p className="note" data-selected={isSelected || undefined}>
        <Anchor position={position} />
        <span>
          {typeText(event)} <bdi>{eventLine(event)}</bdi>
        </span>
        <Beside event={event} />
      </p>
    );
  if (kind === 'call')
    return <CallCard event={event} anchor={<Anchor position={position} />} isSelected={isSelected} />;
  return (
    <article className="message" data-role={kind} data-selected={isSelected || undefined}>
      <header className="message-head">
        <span className="author">{authorOf(event)}</span>
        <span className="quiet">
          <When at={event.at} />
        </span>
        <Anchor position={position} />
      </header>
      {bodyOf(event)}
    </article>
  );
});

function authorOf(event: ThreadEvent): string {
  if (isEvent(event, 'message_accepted')) return 'user';
  if (isEvent(event, 'completion_recorded')) return event.interrupted ? 'assistant, interrupted' : 'assistant';
  return typeText(event);
}

function bodyOf(event: ThreadEvent): ReactNode {
  if (isEvent(event, 'message_accepted') || isEvent(event, 'schedule_came')) return <Content items={event.content} />;
  if (isEvent(event, 'completion_recorded'))
    return <Answer text={event.message.text} reasoning={event.message.reasoning} />;
  if (isEvent(event, 'child_spawned')) return <ChildCard childId={event.child_id} text={event.instructions ?? ''} />;
  if (isEvent(event, 'child_reported')) return <ChildCard childId={event.child_id} text={event.report} />;
  if (isEvent(event, 'subscription_event_received') && event.child_id !== undefined)
    return <ChildCard childId={event.child_id} text={event.text} />;
  return <p className="plain">{plainText(textField(event) ?? eventLine(event))}</p>;
}

const textField = (event: ThreadEvent): string | undefined =>
  typeof event['text'] === 'string' ? event['text'] : undefined;

function Answer({ text, reasoning }: { readonly text: string; readonly reasoning: string | undefined }): ReactElement {
  return (
    <>
      {reasoning === undefined || reasoning === '' ? null : (
        <details className="reasoning">
          <summary>Reasoning</summary>
          <p>{plainText(reasoning)}</p>
        </details>
      )}
      <Suspense fallback={<p className="plain">{plainText(text)}</p>}>
        <Markdown text={text} />
      </Suspense>
    </>
  );
}

/** Selects the row; in the timeline too. */
function Anchor({ position }: { readonly position: number }): ReactElement {
  const { change } = useThreadView();
  return (
    <button
      type="button"
      className="anchor"
      onClick={() => change({ p: position, tab: 'events', beside: undefined })}
      aria-label={`Event ${position}`}
    >
      #{position}
    </button>
  );
}

/** What a fork was forked from stands beside it. */
function Beside({ event }: { readonly event: ThreadEvent }): ReactElement | null {
  const { change } = useThreadView();
  const from: unknown = event['from'];
  if (event.type !== 'thread_forked' || typeof from !== 'object' || from === null || !('thread_id' in from))
    return null;
  return (
    <Button onClick={() => change({ beside: String(from.thread_id) })}>
      <Icon name="fork" /> Show the original beside
    </Button>
  );
}
