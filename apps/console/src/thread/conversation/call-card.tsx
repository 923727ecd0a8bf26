// A tool call in the conversation: what was asked, how it stands, what came back; its attempts when it is opened.
import { isEvent, type ThreadEvent } from '@dormouse/client';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactElement, type ReactNode } from 'react';
import { api, ask } from '../../api/client.ts';
import { toolCalls } from '../../api/queries.ts';
import { Button } from '../../elements/button.tsx';
import { CurlButton } from '../../elements/copy-button.tsx';
import { Diff } from '../../elements/diff.tsx';
import { patchLines } from '../../elements/diff-lines.ts';
import { durationText } from '../../elements/duration.ts';
import { Icon } from '../../elements/icon.tsx';
import { JsonView } from '../../elements/json-view.tsx';
import { Plain } from '../../elements/plain.tsx';
import { plainLine } from '../../elements/plain-text.ts';
import { Lasting } from '../../elements/when.tsx';
import { attempt } from '../../shell/attempt.ts';
import { Content } from './content.tsx';
import { Picture } from './picture.tsx';
import { useThreadView } from '../thread-context.ts';
import { useLogVersion } from '../log/use-live-thread.ts';

export function CallCard({
  event,
  anchor,
  isSelected,
}: {
  readonly event: ThreadEvent;
  readonly anchor: ReactNode;
  readonly isSelected: boolean;
}): ReactElement {
  const { live, state, length } = useThreadView();
  useLogVersion(live.log);
  const [isOpen, setOpen] = useState(false);
  const id = String(event['tool_call_id']);
  const record = live.log.call(id);
  const requested = record.requested ?? event;
  const settled = record.settled !== undefined && record.settled.position <= length ? record.settled : undefined;
  const outcome = settled !== undefined && isEvent(settled, 'tool_call_settled') ? settled.outcome : undefined;
  const waits = state.waitingOn.find(
    (entry) =>
      entry.id === id || state.questions.some((question) => question.id === entry.id && question.tool_call_id === id),
  );
  const name = typeof requested['operation'] === 'string' ? requested['operation'] : 'tool call';
  const given: unknown = requested['arguments'];
  return (
    <article className="call" data-outcome={outcome ?? 'open'} data-selected={isSelected || undefined}>
      <header className="call-head">
        <button type="button" className="call-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Icon name="chevron" />
          <code>{plainLine(name, 80)}</code>
          <span className="quiet call-arguments">
            {given === undefined ? '' : plainLine(JSON.stringify(given), 160)}
          </span>
        </button>
        <CallState outcome={outcome} from={requested.at} to={settled?.at} waits={waits?.kind} />
        {anchor}
      </header>
      {settled !== undefined && isEvent(settled, 'tool_call_settled') ? <Result settled={settled} /> : null}
      {isOpen ? <CallDetails id={id} given={given} isSettled={settled !== undefined} /> : null}
    </article>
  );
}

function CallState(props: {
  readonly outcome: string | undefined;
  readonly from: string;
  readonly to: string | undefined;
  readonly waits: string | undefined;
}): ReactElement {
  const { outcome, from, to, waits } = props;
  if (to !== undefined)
    return (
      <span className="call-state">
        {outcome === 'result' ? (
          <span className="visually-hidden">result</span>
        ) : (
          <span className="call-outcome">{plainLine((outcome ?? '').replaceAll('_', ' '), 40)}</span>
        )}{' '}
        <span className="quiet">{durationText(Date.parse(to) - Date.parse(from))}</span>
      </span>
    );
  return (
    <span className="call-state call-waiting">
      {waitWords[waits ?? ''] ?? 'waiting'} <Lasting since={from} />
    </span>
  );
}

const waitWords: Readonly<Record<string, string>> = {
  approval: 'waits for approval',
  choice: 'waits for a choice',
  oauth: 'waits for a login',
};

interface Settled {
  readonly content: Parameters<typeof Content>[0]['items'];
  readonly display_as?: readonly { readonly type: string; readonly content?: unknown }[];
}

function Result({ settled }: { readonly settled: Settled }): ReactElement {
  const shown = (settled.display_as ?? []).flatMap(({ type, content }, index) => segment(type, content, index));
  return <div className="call-result">{shown.length > 0 ? shown : <Content items={settled.content} />}</div>;
}

/** What a tool wants people to see; kinds that are not known are not shown. R48 */
function segment(type: string, content: unknown, index: number): readonly ReactElement[] {
  if (type === 'text' && typeof content === 'string') return [<Plain key={index} text={content} />];
  if (typeof content !== 'object' || content === null) return [];
  if (type === 'diff' && 'path' in content && 'patch' in content && typeof content.patch === 'string')
    return [
      <figure key={index} className="diff-figure">
        <figcaption>{plainLine(String(content.path), 200)}</figcaption>
        <Diff lines={patchLines(content.patch)} label={`Change of ${plainLine(String(content.path), 100)}`} />
      </figure>,
    ];
  if (type === 'image') {
    const { data, blob, mediaType } = content as {
      readonly data?: string;
      readonly blob?: string;
      readonly mediaType?: string;
    };
    const kind = mediaType ?? ('media_type' in content ? String(content.media_type) : '');
    return [<Picture key={index} mediaType={kind} data={data} blob={blob} label="A picture of the tool" />];
  }
  return [];
}

function CallDetails({
  id,
  given,
  isSettled,
}: {
  readonly id: string;
  readonly given: unknown;
  readonly isSettled: boolean;
}): ReactElement {
  const { thread, at } = useThreadView();
  const { data } = useQuery(toolCalls(thread.id));
  const call = data?.data.find((each) => each.tool_call_id === id);
  const path = { params: { path: { id: thread.id, call: id } } };
  const cancel = (): void =>
    attempt('The call is cancelled', () => ask(api.POST('/v1/threads/{id}/tool-calls/{call}/cancel', path)));
  return (
    <div className="call-details stack">
      <JsonView value={given} label="Arguments" />
      {call === undefined ? null : (
        <p className="quiet">
          {call.tool_server ?? 'built in'}, {call.state}
          {call.attempts.length === 0 ? '' : `, attempts: ${call.attempts.map(({ status }) => status).join(', ')}`}
        </p>
      )}
      <div className="row">
        <CurlButton path={`/v1/threads/${thread.id}/tool-calls`} />
        {isSettled || at !== undefined ? null : <Button onClick={cancel}>Cancel the call</Button>}
      </div>
    </div>
  );
}
