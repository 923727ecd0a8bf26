// Every durable event as a row of one height, so that a log of any length scrolls; the selected one in full below.
//
// Arrow keys move the selection, Home and End go to the ends. The selection is the page's address.
import type { ThreadEvent } from '@dormouse/client';
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useRef, type KeyboardEvent, type ReactElement } from 'react';
import { clockText, durationText } from '../../elements/duration.ts';
import { chunkOf } from '../log/event-log.ts';
import { EventDetails } from './event-details.tsx';
import { eventLine, toneOf, typeText } from '../log/event-line.ts';
import { useThreadView } from '../thread-context.ts';
import { useLogVersion } from '../log/use-live-thread.ts';

const rowPixels = 30;
/** A longer pause between two events is shown. */
const pauseMsMin = 1_000;
const pageRows = 10;

export function Timeline(): ReactElement {
  const { live, length, selected, change, at } = useThreadView();
  useLogVersion(live.log);
  const place = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: length,
    getScrollElement: () => place.current,
    estimateSize: () => rowPixels,
    anchorTo: 'end',
    followOnAppend: selected === undefined,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  useLoad(items);
  useEffect(() => {
    if (selected === undefined) virtual.scrollToEnd();
    else virtual.scrollToIndex(selected - 1, { align: 'auto' });
    // oxlint-disable-next-line react/exhaustive-deps -- with the selection and the position that is shown
  }, [selected, at]);
  const select = (position: number): void => change({ p: Math.min(length, Math.max(1, position)) });
  const onKey = (event: KeyboardEvent): void => {
    const target = targetOf(event.key, selected ?? length, length);
    if (event.key === 'Escape' && selected !== undefined) change({ p: undefined });
    if (target === undefined) return;
    event.preventDefault();
    select(target);
  };
  const chosen = selected === undefined || selected > length ? undefined : live.log.event(selected);
  return (
    <div className="timeline">
      <div
        ref={place}
        className="timeline-rows"
        role="listbox"
        aria-label="Events"
        tabIndex={0}
        aria-activedescendant={selected === undefined ? undefined : `event-${selected}`}
        onKeyDown={onKey}
      >
        <div className="virtual" role="presentation" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => (
            <EventRow
              key={index}
              position={index + 1}
              start={start}
              of={length}
              event={live.log.event(index + 1)}
              previousAt={live.log.event(index)?.at}
              isSelected={selected === index + 1}
              select={select}
            />
          ))}
        </div>
      </div>
      {chosen === undefined ? null : <EventDetails key={chosen.position} event={chosen} />}
    </div>
  );
}

function targetOf(key: string, position: number, length: number): number | undefined {
  switch (key) {
    case 'ArrowDown':
      return position + 1;
    case 'ArrowUp':
      return position - 1;
    case 'PageDown':
      return position + pageRows;
    case 'PageUp':
      return position - pageRows;
    case 'Home':
      return 1;
    case 'End':
      return length;
    default:
      return undefined;
  }
}

interface EventRowProps {
  readonly position: number;
  readonly start: number;
  readonly of: number;
  readonly event: ThreadEvent | undefined;
  readonly previousAt: string | undefined;
  readonly isSelected: boolean;
  readonly select: (position: number) => void;
}

const isSame = (one: EventRowProps, other: EventRowProps): boolean =>
  one.event === other.event &&
  one.start === other.start &&
  one.isSelected === other.isSelected &&
  one.previousAt === other.previousAt &&
  one.position === other.position;

const EventRow = memo(function EventRow({
  position,
  start,
  of,
  event,
  previousAt,
  isSelected,
  select,
}: EventRowProps): ReactElement {
  const pause = event === undefined || previousAt === undefined ? 0 : Date.parse(event.at) - Date.parse(previousAt);
  return (
    <div
      id={`event-${position}`}
      className="event"
      role="option"
      aria-selected={isSelected}
      aria-setsize={of}
      aria-posinset={position}
      data-tone={event === undefined ? undefined : toneOf(event)}
      style={{ transform: `translateY(${start}px)` }}
      onClick={() => select(position)}
    >
      <span className="event-position">{position}</span>
      {event === undefined ? (
        <span className="quiet">…</span>
      ) : (
        <>
          <span className="event-type">{typeText(event)}</span>
          <bdi className="event-line">{eventLine(event)}</bdi>
          {pause >= pauseMsMin ? (
            <span className="event-pause" title="since the event before">
              +{durationText(pause)}
            </span>
          ) : null}
          <time className="event-at" dateTime={event.at}>
            {clockText(event.at)}
          </time>
        </>
      )}
    </div>
  );
}, isSame);

/** Loads the chunks that are in view. */
function useLoad(items: readonly { readonly index: number }[]): void {
  const { live } = useThreadView();
  const wanted = [...new Set(items.map(({ index }) => chunkOf(index + 1)))].filter(
    (chunk) => live.log.chunk(chunk) === undefined,
  );
  const key = wanted.join(' ');
  useEffect(() => {
    if (key === '') return undefined;
    // A reader who drags the bar passes many chunks: those where it rests are loaded.
    const timer = setTimeout(() => {
      for (const chunk of key.split(' ')) live.log.want(Number(chunk)).catch(() => undefined);
    }, 60);
    return () => clearTimeout(timer);
  }, [live, key]);
}
