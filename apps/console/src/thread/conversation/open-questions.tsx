// What the thread asks a person right now, between the conversation and the message field.
import { Link } from '@tanstack/react-router';
import { Fragment, type ReactElement } from 'react';
import { plainLine } from '../../elements/plain-text.ts';
import { Lasting, When } from '../../elements/when.tsx';
import { durationText } from '../../elements/duration.ts';
import { useNow } from '../../elements/now.ts';
import { QuestionCard } from '../../inbox/question-card.tsx';
import { useThreadView } from '../thread-context.ts';

export function OpenQuestions(): ReactElement | null {
  const { thread, state, at } = useThreadView();
  if (at !== undefined) return null;
  const { questions, logins, retrying } = state;
  const timer = state.waitingOn.find(({ kind }) => kind === 'timer');
  const isNothing = questions.length === 0 && logins.length === 0 && retrying === null && timer === undefined;
  if (isNothing) return null;
  return (
    <div className="questions" role="region" aria-label="Waiting for you">
      {retrying === null ? null : (
        <p className="problem" role="status">
          The model {retrying.host === null ? '' : `at ${plainLine(retrying.host, 60)} `}does not answer (
          {plainLine(retrying.code, 60)}, attempt {retrying.attempt}). It is asked again <Until at={retrying.next_at} />
          .
        </p>
      )}
      {timer === undefined ? null : (
        <p className="quiet pad">
          Sleeping for <Lasting since={timer.since} />
          {timer.deadline === undefined ? null : (
            <>
              , wakes <When at={timer.deadline} />
            </>
          )}
          .
        </p>
      )}
      {questions.map((question) => (
        <Fragment key={question.id}>
          <Below thread={question.thread_id} />
          <QuestionCard question={{ ...question, thread_id: question.thread_id ?? thread.id }} />
        </Fragment>
      ))}
      {logins.map(({ toolCallId, authUrl, expiresAt, threadId }) => (
        <div key={toolCallId} className="question card">
          <Below thread={threadId} />
          <p>
            A tool asks for a login, until <When at={expiresAt} />.
          </p>
          <LoginLink url={authUrl} />
        </div>
      ))}
    </div>
  );
}

/** Which thread asks, where it is one below this one. */
function Below({ thread }: { readonly thread: string | undefined }): ReactElement | null {
  if (thread === undefined) return null;
  return (
    <p className="quiet">
      A{' '}
      <Link to="/threads/$threadId" params={{ threadId: thread }}>
        thread below
      </Link>{' '}
      asks:
    </p>
  );
}

/** A tool server chose the address: only the web's own kinds are opened. */
function LoginLink({ url }: { readonly url: string }): ReactElement {
  const parsed = URL.parse(url);
  if (parsed === null || !['https:', 'http:'].includes(parsed.protocol))
    return <p className="error-text">Its address is not one of the web: {plainLine(url, 120)}</p>;
  return (
    <a className="button main-button" href={parsed.href} target="_blank" rel="noopener noreferrer">
      Log in at {plainLine(parsed.host, 80)}
    </a>
  );
}

function Until({ at }: { readonly at: string }): ReactElement {
  const ms = Date.parse(at) - useNow();
  return <>{ms > 0 ? `in ${durationText(ms)}` : 'now'}</>;
}
