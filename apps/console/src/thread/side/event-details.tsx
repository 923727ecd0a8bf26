// The selected event in full, and what can be done from there.
import type { ThreadEvent } from '@dormouse/client';
import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactElement } from 'react';
import { api, ask, problemText } from '../../api/client.ts';
import { Button } from '../../elements/button.tsx';
import { CopyButton, CurlButton } from '../../elements/copy-button.tsx';
import { Icon } from '../../elements/icon.tsx';
import { JsonView } from '../../elements/json-view.tsx';
import { say } from '../../shell/notices.ts';
import { typeText } from '../log/event-line.ts';
import { useThreadView } from '../thread-context.ts';

export function EventDetails({ event }: { readonly event: ThreadEvent }): ReactElement {
  const { thread, change, length } = useThreadView();
  const { position } = event;
  return (
    <section className="event-details" aria-label={`Event ${position}`}>
      <header className="row">
        <h2>
          #{position} {typeText(event)}
        </h2>
        <Button kind="quiet" className="end" onClick={() => change({ p: undefined })} aria-label="Close the event">
          <Icon name="cross" />
        </Button>
      </header>
      <JsonView value={event} label={`Event ${position} as JSON`} />
      <div className="row">
        <ForkButton position={position} />
        {position < length ? <Button onClick={() => change({ at: position })}>As of here</Button> : null}
        <CopyButton text={JSON.stringify(event, null, 2)} label="Copy JSON" />
        <CurlButton path={`/v1/threads/${thread.id}/events?after=${position - 1}&limit=1`} />
      </div>
    </section>
  );
}

/** A new thread with the history up to here; it stands beside this one. */
function ForkButton({ position }: { readonly position: number }): ReactElement {
  const { thread } = useThreadView();
  const navigate = useNavigate();
  const [isBusy, setBusy] = useState(false);
  const fork = async (then: 'wait' | 'ask_again'): Promise<void> => {
    setBusy(true);
    try {
      // oxlint-disable-next-line unicorn/no-thenable -- the API’s own name
      const body = { position, then };
      const { id } = await ask(api.POST('/v1/threads/{id}/fork', { params: { path: { id: thread.id } }, body }));
      await navigate({ to: '/threads/$threadId', params: { threadId: id }, search: { beside: thread.id } });
    } catch (error) {
      say('error', problemText(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Button disabled={isBusy} onClick={() => void fork('ask_again')}>
        <Icon name="fork" /> Ask again from here
      </Button>
      <Button disabled={isBusy} onClick={() => void fork('wait')}>
        Fork and wait
      </Button>
    </>
  );
}
