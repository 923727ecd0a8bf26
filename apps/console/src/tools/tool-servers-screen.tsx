// All tool servers, and how to register one.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactElement } from 'react';
import { api, ask, problemText } from '../api/client.ts';
import { queries, toolServers } from '../api/queries.ts';
import { Button } from '../elements/button.tsx';
import { CurlButton } from '../elements/copy-button.tsx';
import { Icon } from '../elements/icon.tsx';
import { Window } from '../elements/modal.tsx';
import { plainLine, plainText } from '../elements/plain-text.ts';
import { Empty, Pending } from '../elements/states.tsx';
import { TextField } from '../elements/text-field.tsx';
import { ScreenHead } from '../shell/screen-head.tsx';

export function ToolServersScreen(): ReactElement {
  const { data, error, refetch } = useQuery(toolServers);
  const [isNew, setNew] = useState(false);
  const add = (
    <Button kind="main" onClick={() => setNew(true)}>
      <Icon name="plus" /> Register a tool server
    </Button>
  );
  return (
    <>
      <ScreenHead title="Tool servers" path="/v1/tool-servers">
        {add}
      </ScreenHead>
      <div className="screen-body">
        {data === undefined ? <Pending what="tool servers" error={error} again={() => void refetch()} /> : null}
        {data?.length === 0 ? (
          <Empty title="No tool server yet">
            <p>
              A tool server offers tools over HTTP. Register one by its base URL; agents that name it get its tools.
            </p>
            {add}
          </Empty>
        ) : null}
        <ul className="tiles plain-list">
          {(data ?? []).map(({ name, base_url: url, paused, auth }) => (
            <li key={name}>
              <Link to="/tools/$serverName" params={{ serverName: name }} className="card tile">
                <strong>
                  <bdi>{plainLine(name, 60)}</bdi>
                </strong>
                <span className="quiet">{plainLine(url, 100)}</span>
                <span className="quiet">
                  {paused ? 'paused, ' : ''}
                  {auth === null ? 'no credential' : plainLine(auth.type, 40)}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      </div>
      {isNew ? (
        <Window title="Register a tool server" close={() => setNew(false)}>
          <Register close={() => setNew(false)} />
        </Window>
      ) : null}
    </>
  );
}

function Register({ close }: { readonly close: () => void }): ReactElement {
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [failure, setFailure] = useState<string | null>(null);
  const body = { name, base_url: url };
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    try {
      await ask(api.POST('/v1/tool-servers', { body }));
      await queries.invalidateQueries({ queryKey: ['tool-servers'] });
      close();
      await navigate({ to: '/tools/$serverName', params: { serverName: name } });
    } catch (error) {
      setFailure(problemText(error));
    }
  };
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <TextField label="Name" hasFocus value={name} onChange={setName} />
      <TextField label="Base URL" type="url" placeholder="http://127.0.0.1:7430" value={url} onChange={setUrl} />
      {failure === null ? null : (
        <p className="error-text" role="alert">
          {plainText(failure)}
        </p>
      )}
      <div className="row end">
        <CurlButton method="POST" path="/v1/tool-servers" body={body} />
        <Button type="submit" kind="main">
          Register
        </Button>
      </div>
    </form>
  );
}
