// The tool calls of a thread with their attempts, newest first.
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { toolCalls } from '../../api/queries.ts';
import { CurlButton } from '../../elements/copy-button.tsx';
import { clockText } from '../../elements/duration.ts';
import { JsonView } from '../../elements/json-view.tsx';
import { plainLine } from '../../elements/plain-text.ts';
import { Empty, Pending } from '../../elements/states.tsx';
import { Lasting } from '../../elements/when.tsx';
import { useThreadView } from '../thread-context.ts';

export function Calls(): ReactElement {
  const { thread } = useThreadView();
  const { data, error } = useQuery(toolCalls(thread.id));
  if (data === undefined) return <Pending what="calls" error={error} />;
  if (data.data.length === 0)
    return (
      <Empty title="No tool was called">
        <p>When the agent calls a tool, the call and every attempt to deliver it are here.</p>
      </Empty>
    );
  return (
    <div className="stack pad">
      <CurlButton path={`/v1/threads/${thread.id}/tool-calls`} />
      {data.data.toReversed().map((call) => (
        <details key={call.tool_call_id} className="card call-summary">
          <summary>
            <code>{plainLine(call.operation, 80)}</code>{' '}
            <span className="badge" data-status={call.outcome ?? call.state}>
              {call.outcome ?? call.state}
            </span>{' '}
            {call.state === 'settled' ? null : (
              <span className="quiet">
                <Lasting since={call.since} />
              </span>
            )}
          </summary>
          <JsonView value={call.arguments} label={`Arguments of ${call.operation}`} />
          <table className="table">
            <caption className="quiet">Attempts at {call.tool_server ?? 'the runtime itself'}</caption>
            <thead>
              <tr>
                <th scope="col">at</th>
                <th scope="col">status</th>
              </tr>
            </thead>
            <tbody>
              {call.attempts.map(({ at, status }) => (
                <tr key={at}>
                  <td>{clockText(at)}</td>
                  <td>{status}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      ))}
    </div>
  );
}
