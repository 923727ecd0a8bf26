// A thread's status, and what it waits for, in words and one colour.
import type { ReactElement } from 'react';
import type { WaitingOn } from '../api/client.ts';
import { plainLine } from './plain-text.ts';
import { Lasting } from './when.tsx';

export function StatusBadge({ status }: { readonly status: string }): ReactElement {
  return (
    <span className="badge" data-status={status}>
      <span className="badge-dot" aria-hidden="true" />
      {status}
    </span>
  );
}

const words: Readonly<Record<string, string>> = {
  tool_call: 'a tool',
  approval: 'your approval',
  choice: 'your choice',
  oauth: 'a login',
  timer: 'a time',
  slot: 'a free place at the model',
};

/** The oldest wait, and how many there are beside it. */
export function FirstWait(props: {
  readonly waitingOn: readonly WaitingOn[];
  readonly isShort?: boolean;
}): ReactElement | null {
  const [first, ...others] = props.waitingOn;
  if (first === undefined) return null;
  return <WaitingFor entry={first} more={others.length} isShort={props.isShort ?? false} />;
}

/** `your approval for delete_everything, in a thread below, 3 m 5 s` */
export function WaitingFor(props: {
  readonly entry: WaitingOn;
  readonly more: number;
  /** Without the tool server. */
  readonly isShort?: boolean;
}): ReactElement {
  const { entry, more, isShort = false } = props;
  const { kind, operation, tool_server: server, thread_id: below, since, deadline } = entry;
  const what = [
    words[kind] ?? kind,
    ...(operation === undefined ? [] : [kind === 'tool_call' ? ':' : 'for', operation]),
  ];
  return (
    <span className="waiting" data-kind={kind}>
      <span className="waiting-what">
        {plainLine(what.join(' ').replace(' :', ':'), 80)}
        {server === undefined || isShort ? null : <span className="quiet"> at {plainLine(server, 40)}</span>}
        {below === undefined ? null : ', in a thread below'}
      </span>
      <span className="quiet">
        {' '}
        <Lasting since={since} />
        {kind === 'timer' && deadline !== undefined ? `, until ${deadline.slice(0, 16).replace('T', ' ')}` : ''}
        {more > 0 ? ` and ${more} more` : ''}
      </span>
    </span>
  );
}
