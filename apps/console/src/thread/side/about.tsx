// What a thread is: ids, labels, usage, subscriptions, schedules.
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { schedules } from '../../api/queries.ts';
import { durationText } from '../../elements/duration.ts';
import { Fact } from '../../elements/fact.tsx';
import { JsonView } from '../../elements/json-view.tsx';
import { plainLine } from '../../elements/plain-text.ts';
import { When } from '../../elements/when.tsx';
import { useThreadView } from '../thread-context.ts';
import { CancelSubscription } from './cancel-subscription.tsx';

const number = new Intl.NumberFormat();

export function About(): ReactElement {
  const { thread } = useThreadView();
  const { usage } = thread;
  return (
    <div className="stack pad">
      <dl className="facts">
        <Fact name="Id">
          <code>{thread.id}</code>
        </Fact>
        <Fact name="Family">
          <code>{thread.family}</code>
        </Fact>
        <Fact name="User">{thread.user_id === null ? 'none' : plainLine(thread.user_id, 120)}</Fact>
        <Fact name="External id">{thread.external_id === null ? 'none' : plainLine(thread.external_id, 120)}</Fact>
        <Fact name="Opened">
          <When at={thread.created_at} />
        </Fact>
        <Fact name="Events">{number.format(thread.position)}</Fact>
        <Fact name="Tokens">
          {number.format(usage.input_tokens)} in, {number.format(usage.output_tokens)} out
        </Fact>
        <Fact name="Work">
          {usage.completions} completions, {usage.tool_calls} calls, {durationText(usage.active_ms)} active,{' '}
          {durationText(usage.waiting_ms)} waiting
        </Fact>
      </dl>
      {Object.keys(thread.metadata).length === 0 ? null : <JsonView value={thread.metadata} label="Labels" />}
      <Subscriptions />
      <Schedules />
    </div>
  );
}

function Subscriptions(): ReactElement | null {
  const { thread, at } = useThreadView();
  if (thread.subscriptions.length === 0) return null;
  return (
    <section>
      <h2>Subscriptions</h2>
      <ul className="plain-list">
        {thread.subscriptions.map(({ tool_call_id: call, operation, events, last_event_at: lastAt }) => (
          <li key={call} className="row card">
            <code className="grow">{plainLine(operation, 80)}</code>
            <span className="quiet">
              {events} events{lastAt === null ? '' : ', the last '}
              {lastAt === null ? null : <When at={lastAt} />}
            </span>
            <CancelSubscription thread={thread.id} call={call} isDisabled={at !== undefined} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Schedules(): ReactElement | null {
  const { thread } = useThreadView();
  const { data } = useQuery(schedules(thread.id));
  if (data === undefined || data.data.length === 0) return null;
  return (
    <section>
      <h2>Schedules</h2>
      <ul className="plain-list">
        {data.data.map(({ id, cron, time_zone: zone, message, next_at: nextAt }) => (
          <li key={id} className="row card">
            <code>{cron}</code>
            <span className="grow">
              {plainLine(message, 120)} <span className="quiet">{zone}</span>
            </span>
            {nextAt === null ? null : <When at={nextAt} />}
          </li>
        ))}
      </ul>
    </section>
  );
}
