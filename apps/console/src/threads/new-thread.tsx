// The playground: a new thread with any agent, any version, and a first message.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactElement } from 'react';
import type { Schemas } from '@dormouse/client';
import { api, ask, problemText } from '../api/client.ts';
import { agents, queries } from '../api/queries.ts';
import { Button } from '../elements/button.tsx';
import { CurlButton } from '../elements/copy-button.tsx';
import { Window } from '../elements/modal.tsx';
import { Empty, Loading } from '../elements/states.tsx';
import { useKept } from '../elements/kept-text.ts';

export function NewThread({
  agent: wished,
  close,
}: {
  readonly agent?: string | undefined;
  readonly close: () => void;
}): ReactElement {
  const { data: known } = useQuery(agents);
  return (
    <Window title="New thread" close={close}>
      {known === undefined ? (
        <Loading what="agents" />
      ) : known.length === 0 ? (
        <NoAgents />
      ) : (
        <Form known={known} wished={wished} close={close} />
      )}
    </Window>
  );
}

function NoAgents(): ReactElement {
  return (
    <Empty title="There is no agent to talk with">
      <p>
        An agent is instructions, a model and tools. Make one under <Link to="/agents">Agents</Link>.
      </p>
    </Empty>
  );
}

function Form(props: {
  readonly known: readonly Schemas['Agent'][];
  readonly wished?: string | undefined;
  readonly close: () => void;
}): ReactElement {
  const { known, wished, close } = props;
  const navigate = useNavigate();
  const [agent, setAgent] = useState(known.find(({ name }) => name === wished)?.name ?? known[0]?.name ?? '');
  const [version, setVersion] = useState('');
  const [user, setUser] = useState('');
  const [text, setText, forget] = useKept('new-thread');
  const [failure, setFailure] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  const body: Schemas['NewThread'] = {
    agent,
    agent_version: version === '' ? undefined : Number(version),
    user_id: user.trim() || undefined,
    message: text.trim() === '' ? undefined : { text },
  };
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setSending(true);
    setFailure(null);
    try {
      const { id } = await ask(api.POST('/v1/threads', { body }));
      forget();
      close();
      await navigate({ to: '/threads/$threadId', params: { threadId: id } });
      await queries.invalidateQueries({ queryKey: ['threads'] });
    } catch (error) {
      setFailure(problemText(error)); // what was typed stays
    } finally {
      setSending(false);
    }
  };
  const versions = known.find(({ name }) => name === agent)?.version ?? 1;
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <div className="row">
        <label className="field grow">
          <span>Agent</span>
          <select value={agent} onChange={(event) => setAgent(event.target.value)}>
            {known.map(({ name, model }) => (
              <option key={name} value={name}>
                {name} ({model.name === '' ? model.provider : model.name})
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          <span>Version</span>
          <select value={version} onChange={(event) => setVersion(event.target.value)}>
            <option value="">newest ({versions})</option>
            {Array.from({ length: versions }, (_, index) => versions - index).map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          <span>User (optional)</span>
          <input type="text" value={user} onChange={(event) => setUser(event.target.value)} />
        </label>
      </div>
      <label className="field">
        <span>First message</span>
        <textarea
          rows={5}
          autoFocus
          value={text}
          placeholder="What is the weather in Oslo?"
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
          }}
        />
      </label>
      {failure === null ? null : (
        <p className="error-text" role="alert">
          {failure}
        </p>
      )}
      <div className="row end">
        <CurlButton method="POST" path="/v1/threads" body={body} />
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" kind="main" disabled={isSending}>
          Open thread
        </Button>
      </div>
    </form>
  );
}
