// Everything that waits for a person, over all threads: approvals, choices, logins.
//
// With the focus in the list: arrow keys move, A allows, D denies, E edits the arguments, X marks; marked approvals are
// answered together, with one reason.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState, type KeyboardEvent, type ReactElement } from 'react';
import { problemText, send, type Question } from '../api/client.ts';
import { inbox, queries } from '../api/queries.ts';
import { Button } from '../elements/button.tsx';
import { plainLine } from '../elements/plain-text.ts';
import { Segments } from '../elements/segments.tsx';
import { Empty, Pending } from '../elements/states.tsx';
import { Lasting } from '../elements/when.tsx';
import { useActions } from '../shell/actions.ts';
import { say } from '../shell/notices.ts';
import { ScreenHead } from '../shell/screen-head.tsx';
import { answerQuestion, QuestionCard } from './question-card.tsx';

const route = getRouteApi('/inbox');
const kinds = [undefined, 'approval', 'tool', 'oauth'] as const;
const kindNames = { all: 'all', approval: 'approvals', tool: 'choices', oauth: 'logins' } as const;

export function InboxScreen(): ReactElement {
  const { kind, agent } = route.useSearch();
  const navigate = useNavigate();
  const { data, error, refetch } = useQuery(inbox);
  const shown = (data ?? []).filter(
    (question) =>
      (kind === undefined || question.kind === kind) && (agent === undefined || agentOf(question) === agent),
  );
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const together = shown.filter(({ id }) => marked.has(id));
  useActions('inbox', [
    {
      id: 'mark',
      label: 'Mark all approvals',
      run: () => setMarked(new Set(shown.filter(isApproval).map(({ id }) => id))),
    },
  ]);
  return (
    <>
      <ScreenHead title="Inbox" path="/v1/choices?status=open" />
      <search className="filters">
        <Segments
          label="Kind"
          values={kinds}
          chosen={kind}
          choose={(wanted) => void navigate({ to: '/inbox', search: { agent, kind: wanted }, replace: true })}
          text={(each) => kindNames[each ?? 'all']}
        />
        <p className="quiet hint">
          In the list: <kbd>↑</kbd> <kbd>↓</kbd> move, <kbd>A</kbd> allow, <kbd>D</kbd> deny, <kbd>E</kbd> edit,{' '}
          <kbd>X</kbd> mark
        </p>
      </search>
      {together.length === 0 ? null : <Together questions={together} done={() => setMarked(new Set())} />}
      {data === undefined ? <Pending what="open questions" error={error} again={() => void refetch()} /> : null}
      {data !== undefined && shown.length === 0 ? (
        <Empty title="Nothing waits for you">
          <p>
            Approvals of destructive tools, choices and logins of all threads come here. Try it: ask the example agent
            to delete everything, in a{' '}
            <Link to="/threads" search={{ new: true }}>
              new thread
            </Link>
            .
          </p>
        </Empty>
      ) : (
        <Questions questions={shown} marked={marked} setMarked={setMarked} />
      )}
    </>
  );
}

const isApproval = ({ kind }: Question): boolean => kind === 'approval';
const agentOf = ({ agent }: Question): string | undefined => (typeof agent === 'object' ? agent.name : agent);

function Questions(props: {
  readonly questions: readonly Question[];
  readonly marked: ReadonlySet<string>;
  readonly setMarked: (marked: ReadonlySet<string>) => void;
}): ReactElement {
  const { questions, marked, setMarked } = props;
  const mark = (id: string): void => {
    const next = new Set(marked);
    if (!next.delete(id)) next.add(id);
    setMarked(next);
  };
  const onKey = (event: KeyboardEvent<HTMLUListElement>): void => {
    if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    const items = [...event.currentTarget.querySelectorAll<HTMLElement>(':scope > li')];
    const at = items.findIndex((item) => item.contains(document.activeElement));
    const question = questions[at];
    const act = question === undefined ? undefined : actionOf(event.key, question, items, at, mark);
    if (act === undefined) return;
    event.preventDefault();
    act();
  };
  return (
    <ul className="inbox" aria-label="Open questions" onKeyDown={onKey}>
      {questions.map((question) => {
        const { id, thread_id: thread, since } = question;
        const agent = agentOf(question);
        return (
          <li
            key={id}
            tabIndex={0}
            className="inbox-row"
            data-marked={marked.has(id) || undefined}
            aria-label={plainLine(question.prompt, 160)}
          >
            <p className="row quiet">
              {isApproval(question) ? (
                <label className="row">
                  <input type="checkbox" checked={marked.has(id)} onChange={() => mark(id)} />
                  <span className="visually-hidden">Mark</span>
                  approval
                </label>
              ) : (
                <span>{question.kind === 'oauth' ? 'login' : 'choice'}</span>
              )}
              {thread === undefined ? null : (
                <Link to="/threads/$threadId" params={{ threadId: thread }}>
                  {agent === undefined ? 'its thread' : plainLine(agent, 60)}
                </Link>
              )}
              {since === undefined ? null : (
                <span>
                  for <Lasting since={since} />
                </span>
              )}
            </p>
            {question.kind === 'oauth' ? <Login question={question} /> : <QuestionCard question={question} />}
          </li>
        );
      })}
    </ul>
  );
}

/** The address of a login is in its thread's stream only. */
function Login({ question }: { readonly question: Question }): ReactElement {
  return (
    <div className="question card">
      <p className="question-prompt">
        {plainLine(question.prompt === '' ? 'A tool asks for a login.' : question.prompt, 240)}
      </p>
      {question.thread_id === undefined ? null : (
        <Link to="/threads/$threadId" params={{ threadId: question.thread_id }} className="button main-button">
          Log in at its thread
        </Link>
      )}
    </div>
  );
}

const isTyping = (target: EventTarget): boolean =>
  target instanceof HTMLElement && target.matches('input:not([type=checkbox]), textarea, select');

function actionOf(
  key: string,
  question: Question,
  items: readonly HTMLElement[],
  at: number,
  mark: (id: string) => void,
): (() => void) | undefined {
  const decide = (decision: 'allow' | 'deny'): void => {
    (items[at + 1] ?? items[at - 1])?.focus();
    void answerQuestion(question, { decision, arguments_hash: question.arguments_hash });
  };
  switch (key.toLowerCase()) {
    case 'arrowdown':
      return () => items[at + 1]?.focus();
    case 'arrowup':
      return () => items[at - 1]?.focus();
    case 'a':
      return isApproval(question) ? () => decide('allow') : undefined;
    case 'd':
      return isApproval(question) ? () => decide('deny') : undefined;
    case 'x':
      return isApproval(question) ? () => mark(question.id) : undefined;
    case 'e':
      return () => items[at]?.querySelector<HTMLElement>('[data-edit]')?.click();
    default:
      return undefined;
  }
}

/** One answer and one reason for all that are marked. */
function Together({
  questions,
  done,
}: {
  readonly questions: readonly Question[];
  readonly done: () => void;
}): ReactElement {
  const [reason, setReason] = useState('');
  const decide = async (decision: 'allow' | 'deny'): Promise<void> => {
    const decisions = questions.map(({ id }) => ({ id, decision, reason: reason.trim() || undefined }));
    try {
      const { data } = await send<{
        readonly data: readonly { readonly status: number | string; readonly code?: string }[];
      }>('POST', '/v1/choices:batch', { decisions });
      const refused = data.filter(({ code }) => code !== undefined);
      say(
        refused.length === 0 ? 'done' : 'error',
        `${data.length - refused.length} answered${refused.length === 0 ? '' : `, ${refused.length} not: ${refused[0]?.code ?? ''}`}`,
      );
      done();
    } catch (error) {
      say('error', problemText(error));
    }
    await queries.invalidateQueries({ queryKey: ['inbox'] });
  };
  return (
    <div className="together card row" role="region" aria-label="Marked approvals">
      <span>{questions.length} marked</span>
      <label className="field inline grow">
        <span>Reason</span>
        <input className="grow" type="text" value={reason} onChange={(event) => setReason(event.target.value)} />
      </label>
      <Button kind="main" onClick={() => void decide('allow')}>
        Allow all
      </Button>
      <Button kind="danger" onClick={() => void decide('deny')}>
        Deny all
      </Button>
      <Button onClick={done}>Unmark</Button>
    </div>
  );
}
