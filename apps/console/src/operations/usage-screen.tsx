// Tokens, completions and calls by day and by agent: a picture, and the same numbers as tables.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactElement } from 'react';
import { usage, type UsageRow } from '../api/queries.ts';
import { durationText } from '../elements/duration.ts';
import { Measure } from '../elements/measure.tsx';
import { plainLine } from '../elements/plain-text.ts';
import { Segments } from '../elements/segments.tsx';
import { Empty, Pending } from '../elements/states.tsx';
import { ScreenHead } from '../shell/screen-head.tsx';
import { UsageChart } from './usage-chart.tsx';

const route = getRouteApi('/usage');
const dayMs = 86_400_000;
const spans: readonly number[] = [7, 30, 90];
const number = new Intl.NumberFormat();

export function UsageScreen(): ReactElement {
  const { days = 30 } = route.useSearch();
  const navigate = useNavigate();
  const [today] = useState(() => Math.floor(Date.now() / dayMs) * dayMs);
  const [from, to] = [new Date(today - (days - 1) * dayMs).toISOString(), new Date(today + dayMs).toISOString()];
  const byDay = useQuery(usage('day', from, to));
  const byAgent = useQuery(usage('agent', from, to));
  return (
    <>
      <ScreenHead title="Usage" path={`/v1/usage?group_by=day&from=${from}&to=${to}`} />
      <div className="filters">
        <Segments
          label="Time"
          values={spans}
          chosen={days}
          choose={(span) => void navigate({ to: '/usage', search: { days: span }, replace: true })}
          text={(span) => `${span} days`}
        />
      </div>
      <div className="screen-body">
        {byDay.data === undefined ? (
          <Pending what="usage" error={byDay.error} again={() => void byDay.refetch()} />
        ) : null}
        {byDay.data?.data.length === 0 ? (
          <Empty title="Nothing was used in this time">
            <p>
              Every completion and tool call counts here. Begin with a{' '}
              <Link to="/threads" search={{ new: true }}>
                new thread
              </Link>
              .
            </p>
          </Empty>
        ) : null}
        {byDay.data === undefined || byDay.data.data.length === 0 ? null : (
          <>
            <Totals total={byDay.data.total} />
            <section className="card" aria-label="Tokens by day">
              <h2>Tokens by day</h2>
              <UsageChart rows={byDay.data.data} from={today - (days - 1) * dayMs} days={days} />
            </section>
            <UsageTable title="By agent" rows={byAgent.data?.data ?? []} />
            <UsageTable title="By day" rows={byDay.data.data.toReversed()} />
          </>
        )}
      </div>
    </>
  );
}

function Totals({ total }: { readonly total: Omit<UsageRow, 'key'> }): ReactElement {
  const numbers: readonly (readonly [string, string])[] = [
    ['Tokens in', number.format(total.input_tokens)],
    ['Tokens out', number.format(total.output_tokens)],
    ['Completions', number.format(total.completions)],
    ['Tool calls', number.format(total.tool_calls)],
    ['Active', durationText(total.active_ms)],
    ['Waiting', durationText(total.waiting_ms)],
  ];
  return (
    <section className="card numbers" aria-label="Total">
      {numbers.map(([name, value]) => (
        <Measure key={name} name={name} value={value} />
      ))}
    </section>
  );
}

function UsageTable({ title, rows }: { readonly title: string; readonly rows: readonly UsageRow[] }): ReactElement {
  return (
    <section className="card scroll-x" tabIndex={0} aria-label={title}>
      <h2>{title}</h2>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{title === 'By day' ? 'Day' : 'Agent'}</th>
            {['Tokens in', 'Tokens out', 'Completions', 'Calls', 'Active', 'Waiting'].map((name) => (
              <th key={name} scope="col" className="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key}>
              <th scope="row">{plainLine(row.key, 80)}</th>
              {[row.input_tokens, row.output_tokens, row.completions, row.tool_calls].map((value, index) => (
                <td key={index} className="number">
                  {number.format(value)}
                </td>
              ))}
              <td className="number">{durationText(row.active_ms)}</td>
              <td className="number">{durationText(row.waiting_ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
