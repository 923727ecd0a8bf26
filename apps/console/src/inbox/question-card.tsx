// One open question: what is asked, about which call, and the ways to answer it.
import { useId, useState, type ReactElement } from 'react';
import { ApiProblem } from '@dormouse/client';
import { problemText, send, type Question } from '../api/client.ts';
import { queries } from '../api/queries.ts';
import { Button } from '../elements/button.tsx';
import { CurlButton } from '../elements/copy-button.tsx';
import { JsonView } from '../elements/json-view.tsx';
import { type ParsedJson, parsedJson } from '../api/parsed-json.ts';
import { plainLine, plainText } from '../elements/plain-text.ts';
import { When } from '../elements/when.tsx';
import { say } from '../shell/notices.ts';

export interface Answer {
  readonly decision?: 'allow' | 'deny' | 'allow_for_thread';
  readonly selected?: number;
  readonly dismiss?: true;
  readonly reason?: string;
  readonly arguments?: unknown;
  readonly arguments_hash?: string;
}

/** Sends an answer; says what became of it. Resolves with whether it was taken. */
export async function answerQuestion(question: Question, answer: Answer): Promise<boolean> {
  try {
    await send('POST', pathOf(question), answer);
    say(
      'done',
      `Answered: ${answer.decision?.replaceAll('_', ' ') ?? (answer.dismiss === true ? 'dismissed' : plainLine(question.choices[answer.selected ?? 0] ?? '', 60))}`,
    );
    return true;
  } catch (error) {
    const isLate = error instanceof ApiProblem && error.code === 'CHOICE_SETTLED';
    say('error', isLate ? 'It was answered before, elsewhere.' : problemText(error));
    return false;
  } finally {
    await queries.invalidateQueries({ queryKey: ['inbox'] });
  }
}

const pathOf = ({ id, thread_id: thread }: Question): string =>
  thread === undefined
    ? `/v1/choices/${encodeURIComponent(id)}`
    : `/v1/threads/${encodeURIComponent(thread)}/choices/${encodeURIComponent(id)}`;

export function QuestionCard({ question }: { readonly question: Question }): ReactElement {
  const { kind, prompt, expires_at: expiresAt, warnings = [] } = question;
  return (
    <article className="question card" aria-label={plainLine(prompt, 120)}>
      <p className="question-prompt" dir="auto">
        {plainText(prompt)}
      </p>
      {warnings.map((warning) => (
        <p key={warning} className="problem">
          {plainText(warning)}
        </p>
      ))}
      <Team question={question} />
      {kind === 'approval' ? <Approval question={question} /> : <Choices question={question} />}
      <p className="row quiet">
        <span>
          answered by itself <When at={expiresAt} />
        </span>
        <CurlButton
          method="POST"
          path={pathOf(question)}
          body={kind === 'approval' ? { decision: 'allow' } : { selected: 0 }}
        />
      </p>
    </article>
  );
}

/** Whose task it is, and how many of those who must allow it have done so. */
function Team({ question }: { readonly question: Question }): ReactElement | null {
  const { assignees = [], approvals_needed: needed, approved_by: approvedBy = [] } = question;
  if (assignees.length === 0 && needed === undefined) return null;
  const by = approvedBy.length === 0 ? '' : ` (${plainLine(approvedBy.join(', '), 120)})`;
  return (
    <p className="row quiet">
      {needed === undefined ? null : (
        <span>
          {approvedBy.length} of {needed} approvals{by}
        </span>
      )}
      {assignees.length === 0 ? null : <span>for {plainLine(assignees.join(', '), 120)}</span>}
    </p>
  );
}

function Approval({ question }: { readonly question: Question }): ReactElement {
  const [reason, setReason] = useState('');
  const [edited, setEdited] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const reasonId = useId();
  const { arguments: given, arguments_hash: hash } = question;
  const parsed = edited === null ? null : parsedObject(edited);
  const answer = async (decision: 'allow' | 'deny' | 'allow_for_thread'): Promise<void> => {
    setBusy(true);
    const isEdited = decision === 'allow' && parsed !== null && parsed.ok;
    await answerQuestion(question, {
      decision,
      reason: reason.trim() || undefined,
      arguments: isEdited ? parsed.value : undefined,
      arguments_hash: hash,
    });
    setBusy(false);
  };
  return (
    <>
      {edited === null ? (
        given === undefined ? null : (
          <JsonView value={given} label="Arguments" />
        )
      ) : (
        <label className="field">
          <span>Arguments, edited before allowing</span>
          <textarea
            className="mono"
            rows={Math.min(14, edited.split('\n').length + 1)}
            value={edited}
            onChange={(event) => setEdited(event.target.value)}
            aria-invalid={parsed?.ok === false}
            autoFocus
          />
          {parsed?.ok === false ? <span className="error-text">{parsed.detail}</span> : null}
        </label>
      )}
      <label className="field inline" htmlFor={reasonId}>
        <span>Reason</span>
        <input
          id={reasonId}
          className="grow"
          type="text"
          value={reason}
          placeholder="optional; the log keeps it"
          onChange={(event) => setReason(event.target.value)}
        />
      </label>
      <div className="row">
        <Button kind="main" disabled={isBusy || parsed?.ok === false} onClick={() => void answer('allow')}>
          {edited === null ? 'Allow' : 'Allow as edited'}
        </Button>
        <Button kind="danger" disabled={isBusy} onClick={() => void answer('deny')}>
          Deny
        </Button>
        {edited === null ? (
          <>
            <Button disabled={isBusy} onClick={() => void answer('allow_for_thread')}>
              Allow for this thread
            </Button>
            <Button data-edit onClick={() => setEdited(JSON.stringify(given ?? {}, null, 2))}>
              Edit arguments
            </Button>
          </>
        ) : (
          <Button onClick={() => setEdited(null)}>As it was</Button>
        )}
      </div>
    </>
  );
}

function parsedObject(text: string): ParsedJson {
  const parsed = parsedJson(text);
  if (!parsed.ok) return parsed;
  const { value } = parsed;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? parsed : { ok: false, detail: 'The arguments are an object.' };
}

function Choices({ question }: { readonly question: Question }): ReactElement {
  const [isBusy, setBusy] = useState(false);
  const answer = async (given: Answer): Promise<void> => {
    setBusy(true);
    await answerQuestion(question, given);
    setBusy(false);
  };
  return (
    <div className="row choices">
      {question.choices.map((choice, index) => (
        <Button key={index} disabled={isBusy} onClick={() => void answer({ selected: index })}>
          {plainLine(choice, 120)}
          {index === question.default ? <span className="quiet"> (default)</span> : null}
        </Button>
      ))}
      <Button kind="quiet" disabled={isBusy} onClick={() => void answer({ dismiss: true })}>
        Dismiss
      </Button>
    </div>
  );
}
