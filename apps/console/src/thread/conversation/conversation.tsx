// The conversation as a list of which only the visible part exists: old parts are loaded where the reader looks, and
// new ones are followed while the reader is at the end.
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useMemo, useRef, type ReactElement, type RefObject } from 'react';
import { chunkSize } from '../log/event-log.ts';
import { conversationRows, type Row } from './conversation-rows.ts';
import { DraftRow } from './draft-row.tsx';
import { MessageRow } from './message-row.tsx';
import { useThreadView } from '../thread-context.ts';
import { useLogVersion } from '../log/use-live-thread.ts';

const gapPixels = chunkSize * 40;
/** A reader within so many pixels of the end is at the end. */
const endPixels = 80;
const rowPixels: Readonly<Record<string, number>> = { gap: gapPixels, user: 64, assistant: 96, call: 44, note: 30 };

export function Conversation(): ReactElement {
  const { live, state, length, at, selected } = useThreadView();
  const version = useLogVersion(live.log);
  // oxlint-disable-next-line react/exhaustive-deps -- the version stands for the log's contents
  const rows = useMemo(() => conversationRows(live.log, length), [live, length, version]);
  const drafts = at === undefined ? state.drafts : [];
  const place = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length + drafts.length,
    getScrollElement: () => place.current,
    estimateSize: (index) => rowPixels[rows[index]?.kind ?? 'assistant'] ?? 56,
    getItemKey: (index) => rows[index]?.key ?? `draft ${drafts[index - rows.length]?.completionId ?? ''}`,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: endPixels,
    overscan: 4,
  });
  const items = virtual.getVirtualItems();
  useGaps(rows, items);
  useScrollToSelection(rows, selected, (index) => virtual.scrollToIndex(index, { align: 'center' }));
  const isReady = rows.length > 0;
  useEndWhileResized(place, () => virtual.scrollToEnd());
  useLayoutEffect(() => {
    if (isReady && selected === undefined) virtual.scrollToEnd();
    // oxlint-disable-next-line react/exhaustive-deps -- once, and at another position
  }, [isReady, at]);
  return (
    <div ref={place} className="conversation" tabIndex={0} role="region" aria-label="Messages">
      <div className="virtual" role="list" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ key, index, start }) => {
          const row = rows[index];
          const draft = drafts[index - rows.length];
          return (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              role="listitem"
              className="virtual-row"
              style={{ transform: `translateY(${start}px)` }}
            >
              {row === undefined ? (
                draft === undefined ? null : (
                  <DraftRow draft={draft} />
                )
              ) : row.kind === 'gap' ? (
                <Gap />
              ) : (
                <MessageRow row={row} />
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

const Gap = (): ReactElement => <div className="gap" style={{ height: gapPixels }} aria-label="Not loaded yet" />;

/** A reader at the end stays there when a question takes a part of the height. */
function useEndWhileResized(place: RefObject<HTMLDivElement | null>, scrollToEnd: () => void): void {
  const toEnd = useRef(scrollToEnd);
  useEffect(() => {
    toEnd.current = scrollToEnd;
  });
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    let isAtEnd = true;
    const note = (): void => {
      isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < endPixels;
    };
    const watch = new ResizeObserver(() => isAtEnd && toEnd.current());
    element.addEventListener('scroll', note, { passive: true });
    watch.observe(element);
    return () => {
      element.removeEventListener('scroll', note);
      watch.disconnect();
    };
  }, [place]);
}

/** Loads what is in view. */
function useGaps(rows: readonly Row[], items: readonly { readonly index: number }[]): void {
  const { live } = useThreadView();
  const wanted = items.flatMap(({ index }) => {
    const row = rows[index];
    return row?.kind === 'gap' ? [row.chunk] : [];
  });
  const key = wanted.join(' ');
  useEffect(() => {
    for (const chunk of key === '' ? [] : key.split(' ')) live.log.want(Number(chunk)).catch(() => undefined); // asked again when it is seen again
  }, [live, key]);
}

/** The selected event may be of a chunk that is not loaded: it is loaded first. */
function useScrollToSelection(
  rows: readonly Row[],
  selected: number | undefined,
  scrollTo: (index: number) => void,
): void {
  const { live } = useThreadView();
  const reached = useRef<number>(undefined);
  useEffect(() => {
    if (selected === undefined || reached.current === selected) return;
    const index = rows.findLastIndex((row) => row.kind !== 'gap' && row.position <= selected);
    const chunk = Math.floor((selected - 1) / chunkSize);
    if (live.log.chunk(chunk) === undefined) {
      live.log.want(chunk).catch(() => undefined);
      return;
    }
    reached.current = selected;
    if (index >= 0) scrollTo(index);
  });
}
