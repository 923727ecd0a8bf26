// This browser's session and appearance, the origins whose pages may use the API, and the tenant's secrets and keys.
// Values of secrets are written, never read.
import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactElement } from 'react';
import type { Schemas } from '@dormouse/client';
import { api, ask, problemText } from '../api/client.ts';
import { apiKeys, queries, secrets, session } from '../api/queries.ts';
import { Button } from '../elements/button.tsx';
import { CopyButton, CurlButton } from '../elements/copy-button.tsx';
import { Fact } from '../elements/fact.tsx';
import { plainLine, plainText } from '../elements/plain-text.ts';
import { RequestButton } from '../elements/request-button.tsx';
import { Segments } from '../elements/segments.tsx';
import { Failed } from '../elements/states.tsx';
import { TextField } from '../elements/text-field.tsx';
import { When } from '../elements/when.tsx';
import { attempt } from '../shell/attempt.ts';
import { setTheme, themes, useTheme } from '../shell/theme.ts';

export function SettingsScreen(): ReactElement {
  return (
    <>
      <header className="screen-head">
        <h1>Settings</h1>
      </header>
      <div className="screen-body">
        <Appearance />
        <Session />
        <Origins />
        <Secrets />
        <Keys />
      </div>
    </>
  );
}

function Appearance(): ReactElement {
  const theme = useTheme();
  return (
    <section className="card stack" aria-label="Appearance">
      <h2>Appearance</h2>
      <Segments label="Theme" values={themes} chosen={theme} choose={setTheme} />
    </section>
  );
}

function Session(): ReactElement {
  const { data, error } = useQuery(session);
  return (
    <section className="card stack" aria-label="Session">
      <h2>Session</h2>
      {error === null ? null : <p className="quiet">{plainText(problemText(error))}</p>}
      {data === undefined ? null : (
        <dl className="facts">
          <Fact name="Tenant">{plainLine(data.tenant, 80)}</Fact>
          <Fact name="Key">{plainLine(data.name, 80)}</Fact>
          <Fact name="It may">{data.scopes.join(', ')}</Fact>
          <Fact name="Ends">
            <When at={data.expires_at} />
          </Fact>
        </dl>
      )}
      <div className="row">
        <RequestButton label="Sign out" done="Signed out" request={() => ask(api.DELETE('/v1/session'))} />
      </div>
    </section>
  );
}

function Origins(): ReactElement | null {
  const { data } = useQuery(session);
  if (data === undefined) return null;
  return (
    <section className="card stack" aria-label="Allowed origins">
      <h2>Allowed origins</h2>
      <p className="quiet">
        Pages of these origins may use the API from a browser. The list is the setting{' '}
        <code>DORMOUSE_ALLOWED_ORIGINS</code>, which is read when the runtime starts.
      </p>
      {data.origins.length === 0 ? (
        <p>None beside the runtime’s own.</p>
      ) : (
        <ul className="plain-list">
          {data.origins.map((origin) => (
            <li key={origin}>
              <code>{plainLine(origin, 200)}</code>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Secrets(): ReactElement {
  const { data, error } = useQuery(secrets);
  return (
    <section className="card stack" aria-label="Secrets">
      <div className="row">
        <h2>Secrets</h2>
        <span className="end">
          <CurlButton path="/v1/secrets" />
        </span>
      </div>
      <p className="quiet">
        A value is encrypted, is sent to the named origins only, and can be replaced but never read.
      </p>
      {error === null ? null : <Failed error={error} />}
      {data?.length === 0 ? (
        <p className="quiet">
          None yet. An agent with a model of your own needs one: set it below, and name it as the agent’s
          api_key_secret.
        </p>
      ) : null}
      <ul className="plain-list">
        {(data ?? []).map(({ name, origins, created_at: at }) => (
          <li key={name} className="row">
            <code>{name}</code>
            <span className="quiet grow">
              {plainLine(origins.join(', '), 160)}, set <When at={at} />
            </span>
            <RequestButton
              kind="danger"
              label={`Delete ${name}`}
              done={`${name} is deleted`}
              request={() => ask(api.DELETE('/v1/secrets/{name}', { params: { path: { name } } }))}
            />
          </li>
        ))}
      </ul>
      <SetSecret />
    </section>
  );
}

function SetSecret(): ReactElement {
  const [name, setName] = useState('');
  const [origin, setOrigin] = useState('');
  const [value, setValue] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const body = { value, origins: origin.split(/[\s,]+/).filter((each) => each !== '') };
    attempt(
      `${name} is set`,
      () => ask(api.PUT('/v1/secrets/{name}', { params: { path: { name } }, body })),
      () => setValue(''),
    );
  };
  return (
    <form className="row" onSubmit={submit}>
      <TextField label="Name" value={name} onChange={setName} />
      <TextField label="Origins" placeholder="https://api.example.com" value={origin} onChange={setOrigin} />
      <TextField label="Value" type="password" value={value} onChange={setValue} />
      <Button type="submit" kind="main">
        Set secret
      </Button>
    </form>
  );
}

const scopes = ['read', 'threads:write', 'approvals:write', 'tenant:admin'] as const;

function Keys(): ReactElement {
  const { data, error } = useQuery(apiKeys);
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<readonly (typeof scopes)[number][]>(['read']);
  const [made, setMade] = useState<Schemas['ApiKey'] | null>(null);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    attempt(`The key ${name} is made`, async () => {
      setMade(await ask(api.POST('/v1/api-keys', { body: { name, scopes: [...chosen] } })));
      await queries.invalidateQueries({ queryKey: ['api-keys'] });
    });
  };
  return (
    <section className="card stack" aria-label="API keys">
      <div className="row">
        <h2>API keys</h2>
        <span className="end">
          <CurlButton path="/v1/api-keys" />
        </span>
      </div>
      {error === null ? null : <Failed error={error} />}
      {made === null ? null : (
        <p className="row problem" role="status">
          <span className="grow">
            Its text is shown this once: <code>{made.key}</code>
          </span>
          <CopyButton text={made.key} label="Copy key" />
        </p>
      )}
      <ul className="plain-list">
        {(data ?? []).map(
          ({ id, name: keyName, scopes: may, last_used_at: used, expires_at: ends, revoked_at: revoked }) => (
            <li key={id} className="row">
              <strong>{plainLine(keyName, 60)}</strong>
              <span className="quiet grow">
                {may.join(', ')}, {used === null ? 'not used yet' : 'used '}
                {used === null ? null : <When at={used} />}
                {ends === null ? '' : ', ends '}
                {ends === null ? null : <When at={ends} />}
              </span>
              {revoked === null ? (
                <RequestButton
                  kind="danger"
                  label={`Revoke ${plainLine(keyName, 40)}`}
                  done={`${keyName} is revoked`}
                  request={() => ask(api.DELETE('/v1/api-keys/{id}', { params: { path: { id } } }))}
                />
              ) : (
                <span className="quiet">
                  revoked <When at={revoked} />
                </span>
              )}
            </li>
          ),
        )}
      </ul>
      <form className="row" onSubmit={submit}>
        <TextField label="Name" value={name} onChange={setName} />
        <fieldset className="row plain-fieldset">
          <legend className="visually-hidden">Scopes</legend>
          {scopes.map((scope) => (
            <label key={scope} className="row">
              <input
                type="checkbox"
                checked={chosen.includes(scope)}
                onChange={(event) =>
                  setChosen(event.target.checked ? [...chosen, scope] : chosen.filter((each) => each !== scope))
                }
              />
              {scope}
            </label>
          ))}
        </fieldset>
        <Button type="submit" kind="main" disabled={chosen.length === 0}>
          Make key
        </Button>
      </form>
    </section>
  );
}
