// The turns of a thread as a waterfall: what caused what, when; solid is work, shaded is waiting.
//
// Invariants:
//   W1. A step stands below the one that caused it, or at the left when that is of another turn.
//   W2. The scale is the turn's: its beginning is the left, its end, or now, the right.
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import type { Step, Turn } from '../../api/client.ts';
import { turns } from '../../api/queries.ts';
import { Button } from '../../elements/button.tsx';
import { CopyButton, CurlButton } from '../../elements/copy-button.tsx';
import { clockText, durationText } from '../../elements/duration.ts';
import { useNow } from '../../elements/now.ts';
import { plainLine } from '../../elements/plain-text.ts';
import { Empty, Pending } from '../../elements/states.tsx';
import { useThreadView } from '../thread-context.ts';

const turnsShown = 30;

export function Turns(): ReactElement {
  const { thread } = useThreadView();
  const [shown, setShown] = useState(turnsShown);
  const { data, error } = useQuery(turns(thread.id));
  if (data === undefined) return <Pending what="turns" error={error} />;
  if (data.length === 0)
    return (
      <Empty title="No turn yet">
        <p>Send a message: the turn that it begins is drawn here.</p>
      </Empty>
    );
  return (
    <div className="stack pad">
      <p className="row quiet">
        <span className="legend" data-kind="work" aria-hidden="true" /> work
        <span className="legend" data-kind="wait" aria-hidden="true" /> waiting
        <CurlButton path={`/v1/threads/${thread.id}/lineage`} />
      </p>
      {data
        .toReversed()
        .slice(0, shown)
        .map((turn) => (
          <TurnPicture key={turn.turn_id} turn={turn} />
        ))}
      {data.length > shown ? (
        <Button className="more" onClick={() => setShown(shown + turnsShown)}>
          Earlier turns
        </Button>
      ) : null}
    </div>
  );
}

function TurnPicture({ turn }: { readonly turn: Turn }): ReactElement {
  const now = useNow();
  const from = Date.parse(turn.started_at);
  const steps = inTree(turn.steps);
  const ends = steps.map(({ step }) => (step.ended_at === null ? now : Date.parse(step.ended_at)));
  const to = Math.max(turn.ended_at === null ? now : Date.parse(turn.ended_at), from + 1, ...ends);
  return (
    <article className="turn card">
      <header className="row">
        <h2>{turn.cause.kind}</h2>
        <span className="quiet grow">
          {clockText(turn.started_at, now)},{' '}
          {turn.ended_at === null ? 'running' : durationText(Date.parse(turn.ended_at) - from)}
        </span>
        {turn.trace_id === null ? null : <CopyButton text={turn.trace_id} label="Copy trace id" />}
      </header>
      <ul className="steps">
        {steps.map(({ step, depth }) => (
          <StepRow key={`${step.kind} ${step.id}`} step={step} depth={depth} from={from} to={to} now={now} />
        ))}
      </ul>
      {(turn.steps_omitted ?? 0) > 0 ? <p className="quiet">and {turn.steps_omitted} more steps</p> : null}
    </article>
  );
}

function StepRow(props: {
  readonly step: Step;
  readonly depth: number;
  readonly from: number;
  readonly to: number;
  readonly now: number;
}): ReactElement {
  const { step, depth, from, to, now } = props;
  const start = Date.parse(step.started_at);
  const end = step.ended_at === null ? now : Date.parse(step.ended_at);
  const percent = (time: number): number => Math.min(100, Math.max(0, ((time - from) / (to - from)) * 100));
  const isWait = !['completion', 'attempt'].includes(step.kind);
  const outcome =
    step.outcome === undefined || usual.has(step.outcome) || /^2\d\d$/.test(step.outcome) ? '' : ` ${step.outcome}`;
  return (
    <li className="step">
      <span className="step-name" style={{ paddingInlineStart: `${Math.min(depth, 7) * 0.9}rem` }}>
        <span className="quiet">{step.kind}</span> {plainLine(step.name ?? '', 60)}
        {outcome === '' ? null : <span className="call-outcome">{plainLine(outcome, 40)}</span>}
      </span>
      <span className="step-bar" aria-hidden="true">
        <span
          className="bar"
          data-kind={isWait ? 'wait' : 'work'}
          data-open={step.ended_at === null || undefined}
          style={{ insetInlineStart: `${percent(start)}%`, width: `max(2px, ${percent(end) - percent(start)}%)` }}
        />
      </span>
      <span className="step-time quiet">{step.ended_at === null ? 'open' : durationText(end - start)}</span>
    </li>
  );
}

const usual: ReadonlySet<string> = new Set(['result', 'stop', 'tool_calls', 'accepted', 'fired', 'thread', 'reported']);

/** (W1) */
export function inTree(steps: readonly Step[]): readonly { readonly step: Step; readonly depth: number }[] {
  const known = new Set(steps.map(({ id }) => id));
  const below = Map.groupBy(steps, ({ id, parent_id: parent }) =>
    parent !== null && parent !== id && known.has(parent) ? parent : null,
  );
  const placed: { readonly step: Step; readonly depth: number }[] = [];
  const waiting = (below.get(null) ?? []).toReversed().map((step) => ({ step, depth: 0 }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    placed.push(next);
    const { step, depth } = next;
    for (const child of (below.get(step.id) ?? []).toReversed()) waiting.push({ step: child, depth: depth + 1 });
    below.delete(step.id);
  }
  return placed;
}
