// The thread as of any position: a slider over its log, and the way back to now.
import { useEffect, useState, type ReactElement } from 'react';
import { Button } from '../elements/button.tsx';
import { clockText } from '../elements/duration.ts';
import { useThreadView } from './thread-context.ts';

const settleMs = 120;

export function PositionSlider(): ReactElement | null {
  const { live, at, change } = useThreadView();
  const end = live.log.length;
  const [moving, setMoving] = useState<number | null>(null);
  const shown = moving ?? at ?? end;
  useEffect(() => {
    if (moving === null) return undefined;
    const timer = setTimeout(() => {
      setMoving(null);
      change({ at: moving >= end ? undefined : moving, p: undefined });
    }, settleMs);
    return () => clearTimeout(timer);
  });
  if (end < 2) return null;
  const event = live.log.event(shown);
  return (
    <div className="position" data-past={at !== undefined || undefined}>
      <label className="row grow">
        <span className="quiet">As of position</span>
        <input
          type="range"
          min={1}
          max={end}
          value={shown}
          onChange={(changed) => setMoving(Number(changed.target.value))}
          aria-valuetext={`${shown} of ${end}`}
        />
      </label>
      <output className="position-number">
        {shown} of {end}
        {event === undefined ? '' : `, ${clockText(event.at)}`}
      </output>
      {at === undefined ? null : <Button onClick={() => change({ at: undefined })}>Back to now</Button>}
    </div>
  );
}
