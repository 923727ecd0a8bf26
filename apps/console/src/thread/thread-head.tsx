// The head of a thread: what it is, how it stands, and what can be done with it.
import { Link } from '@tanstack/react-router';
import { useState, type ReactElement } from 'react';
import { api, ask } from '../api/client.ts';
import { queries } from '../api/queries.ts';
import { Button } from '../elements/button.tsx';
import { ActionsMenu, type MenuAction } from '../elements/actions-menu.tsx';
import { copyText, CurlButton } from '../elements/copy-button.tsx';
import { Crumbs } from '../shell/crumbs.tsx';
import { Window } from '../elements/modal.tsx';
import { plainLine, plainText } from '../elements/plain-text.ts';
import { FirstWait, StatusBadge } from '../elements/status-badge.tsx';
import { useActions } from '../shell/actions.ts';
import { attempt } from '../shell/attempt.ts';
import { useThreadView } from './thread-context.ts';

export function ThreadHead(): ReactElement {
  const { thread, state, at } = useThreadView();
  const status = at === undefined ? (state.status ?? thread.status) : thread.status;
  const waitingOn = at === undefined && state.status !== null ? state.waitingOn : thread.waiting_on;
  const lastError = status === 'idle' && thread.last_error !== null ? [thread.last_error] : [];
  const problems = at === undefined ? [...thread.problems, ...lastError] : [];
  const sentence = at === undefined && status !== 'idle' && status !== 'closed' ? thread.waiting : null;
  return (
    <header className="thread-head">
      <div className="thread-name">
        <Crumbs to="/threads" list="Threads" name={thread.title ?? thread.id} charactersMax={120} />
      </div>
      <div className="thread-facts">
        <StatusBadge status={status} />
        <FirstWait waitingOn={waitingOn} />
        <Link
          to="/agents/$agentName"
          params={{ agentName: thread.agent.name }}
          search={{ version: thread.agent.version }}
        >
          <bdi>{plainLine(thread.agent.name, 40)}</bdi> v{thread.agent.version}
        </Link>
        {thread.parent === null ? null : (
          <Link to="/threads/$threadId" params={{ threadId: thread.parent }}>
            parent thread
          </Link>
        )}
        {at === undefined && state.connection === 'reconnecting' ? (
          <span className="error-text">reconnecting…</span>
        ) : null}
        <ThreadActions />
      </div>
      {sentence === null ? null : <p className="quiet waiting-sentence">{plainText(sentence)}</p>}
      {problems.map(({ code, detail }, index) => (
        <p key={index} className="problem">
          <a href={`/errors/${encodeURIComponent(code)}`} target="_blank" rel="noreferrer">
            {plainLine(code, 60)}
          </a>{' '}
          {plainText(detail)}
        </p>
      ))}
    </header>
  );
}

function ThreadActions(): ReactElement {
  const { thread, state, at } = useThreadView();
  const [isClosing, setClosing] = useState(false);
  const { id } = thread;
  const status = state.status ?? thread.status;
  const path = { params: { path: { id } } };
  const interrupt = (): void =>
    attempt('The turn is being stopped', () => ask(api.POST('/v1/threads/{id}/interrupt', { ...path, body: {} })));
  const retry = (): void => attempt('The model is asked again', () => ask(api.POST('/v1/threads/{id}/retry', path)));
  const refresh = (): void =>
    attempt('The tool servers are asked for their tools', () =>
      ask(api.POST('/v1/threads/{id}/toolsets/refresh', path)),
    );
  const close = (): void => attempt('The thread is closed', () => ask(api.POST('/v1/threads/{id}/close', path)));
  const isOpen = status !== 'closed' && at === undefined;
  const actions: readonly MenuAction[] = [
    { id: 'retry', label: 'Ask the model again (retry)', isDisabled: !isOpen, run: retry },
    { id: 'refresh', label: 'Refresh tools', isDisabled: !isOpen, run: refresh },
    { id: 'link', label: 'Copy link', run: () => void copyText(globalThis.location.href) },
    { id: 'id', label: 'Copy id', run: () => void copyText(id) },
    { id: 'close', label: 'Close thread…', isDisabled: !isOpen, isDangerous: true, run: () => setClosing(true) },
  ];
  useActions('thread', [{ id: 'interrupt', label: 'Interrupt this thread', run: interrupt }, ...actions]);
  return (
    <div className="row end grow">
      {isOpen && (status === 'thinking' || status === 'waiting') ? (
        <Button onClick={interrupt}>Interrupt</Button>
      ) : null}
      {isOpen && thread.last_error !== null && status === 'idle' ? <Button onClick={retry}>Retry</Button> : null}
      <CurlButton path={`/v1/threads/${id}${at === undefined ? '' : `?at=${at}`}`} />
      <ActionsMenu label="More actions" actions={actions} />
      {isClosing ? (
        <Window title="Close this thread?" close={() => setClosing(false)}>
          <p>A closed thread takes no message and no event any more. Its history stays.</p>
          <div className="row end">
            <Button onClick={() => setClosing(false)}>Keep it open</Button>
            <Button
              kind="danger"
              onClick={() => {
                setClosing(false);
                close();
                void queries.invalidateQueries({ queryKey: ['threads'] });
              }}
            >
              Close thread
            </Button>
          </div>
        </Window>
      ) : null}
    </div>
  );
}
