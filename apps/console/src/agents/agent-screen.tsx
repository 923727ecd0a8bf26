// One agent: its versions, the difference between any two, and the editor that makes the next one.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactElement } from 'react';
import type { Schemas } from '@dormouse/client';
import { api, ask } from '../api/client.ts';
import { agents, agentVersion } from '../api/queries.ts';
import { Button } from '../elements/button.tsx';
import { CurlButton } from '../elements/copy-button.tsx';
import { Crumbs } from '../shell/crumbs.tsx';
import { Diff } from '../elements/diff.tsx';
import { diffLines } from '../elements/diff-lines.ts';
import { JsonView } from '../elements/json-view.tsx';
import { plainLine, plainText } from '../elements/plain-text.ts';
import { Empty, Failed, Pending } from '../elements/states.tsx';
import { When } from '../elements/when.tsx';
import { useActions } from '../shell/actions.ts';
import { attempt } from '../shell/attempt.ts';
import { AgentEditor } from './agent-editor.tsx';
import { bodyOf, comparableText } from './agent-text.ts';

const route = getRouteApi('/agents/$agentName');

export function AgentScreen(): ReactElement {
  const { agentName } = route.useParams();
  const { data: known, error } = useQuery(agents);
  const newest = known?.find(({ name }) => name === agentName);
  if (known === undefined) return <Pending what="the agent" error={error} />;
  if (newest === undefined)
    return (
      <Empty title={`There is no agent ${plainLine(agentName, 60)}`}>
        <Link to="/agents" className="button">
          All agents
        </Link>
      </Empty>
    );
  return <Agent key={agentName} newest={newest} />;
}

function Agent({ newest }: { readonly newest: Schemas['Agent'] }): ReactElement {
  const { name } = newest;
  const { version = newest.version, against } = route.useSearch();
  const navigate = useNavigate();
  const [isEditing, setEditing] = useState(false);
  const { data: shown, error } = useQuery(agentVersion(name, version));
  const go = (search: { version?: number; against?: number | undefined }): void =>
    void navigate({
      to: '/agents/$agentName',
      params: { agentName: name },
      search: { version, against, ...search },
      replace: true,
    });
  const talk = (): void => void navigate({ to: '/threads', search: { agent: name, new: true } });
  const isPaused = newest.state === 'paused';
  const toggle = (): void =>
    attempt(`${name} is ${isPaused ? 'resumed' : 'paused'}`, () =>
      ask(
        api.PATCH('/v1/agents/{name}', {
          params: { path: { name } },
          body: { state: isPaused ? 'active' : 'paused' },
        }),
      ),
    );
  useActions('agent', [
    { id: 'pause', label: `${isPaused ? 'Resume' : 'Pause'} ${name}`, run: toggle },
    { id: 'talk', label: `New thread with ${name}`, run: talk },
    { id: 'edit', label: `Edit ${name}`, run: () => setEditing(true) },
  ]);
  const versions = Array.from({ length: newest.version }, (_, index) => newest.version - index);
  return (
    <>
      <header className="screen-head">
        <div className="row">
          <Crumbs to="/agents" list="Agents" name={name} />
          {isPaused ? <span className="badge">paused</span> : null}
        </div>
        <div className="row">
          <CurlButton path={`/v1/agents/${name}/versions/${version}`} />
          <Button onClick={toggle}>{isPaused ? 'Resume' : 'Pause'}</Button>
          <Button onClick={() => setEditing(!isEditing)} aria-pressed={isEditing}>
            Edit
          </Button>
          <Button kind="main" onClick={talk}>
            New thread
          </Button>
        </div>
      </header>
      <div className="filters">
        <label className="field inline">
          <span>Version</span>
          <select value={version} onChange={(event) => go({ version: Number(event.target.value) })}>
            {versions.map((each) => (
              <option key={each} value={each}>
                {each}
                {each === newest.version ? ' (newest)' : ''}
              </option>
            ))}
          </select>
        </label>
        <label className="field inline">
          <span>Compared with</span>
          <select
            value={against ?? ''}
            onChange={(event) => go({ against: event.target.value === '' ? undefined : Number(event.target.value) })}
          >
            <option value="">nothing</option>
            {versions
              .filter((each) => each !== version)
              .map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
          </select>
        </label>
        {shown === undefined ? null : (
          <span className="quiet">
            made <When at={shown.created_at} />
          </span>
        )}
      </div>
      <div className="screen-body">
        {error === null ? null : <Failed error={error} />}
        {shown === undefined ? null : isEditing ? (
          <AgentEditor
            key={version}
            first={bodyOf(shown)}
            label="Save as the next version"
            done={(agent) => {
              setEditing(false);
              go({ version: agent.version, against: agent.version > 1 ? agent.version - 1 : undefined });
            }}
          />
        ) : against === undefined ? (
          <Description agent={shown} />
        ) : (
          <Comparison agent={shown} against={against} />
        )}
      </div>
    </>
  );
}

function Description({ agent }: { readonly agent: Schemas['Agent'] }): ReactElement {
  const { instructions, model, tool_servers: servers, policies, limits } = agent;
  return (
    <>
      <section className="card stack">
        <h2>Instructions</h2>
        <p className="plain" dir="auto">
          {instructions === '' ? <span className="quiet">none</span> : plainText(instructions)}
        </p>
      </section>
      <section className="card stack">
        <h2>Tool servers</h2>
        <p className="row">
          {servers.length === 0 ? <span className="quiet">none</span> : null}
          {servers.map((server) => (
            <Link key={server} to="/tools/$serverName" params={{ serverName: server }}>
              {plainLine(server, 80)}
            </Link>
          ))}
        </p>
      </section>
      {Object.entries({ Model: model, Policies: policies, Limits: limits }).map(([title, value]) => (
        <section key={title} className="card stack">
          <h2>{title}</h2>
          <JsonView value={value} label={title} />
        </section>
      ))}
    </>
  );
}

function Comparison({ agent, against }: { readonly agent: Schemas['Agent']; readonly against: number }): ReactElement {
  const { data: other, error } = useQuery(agentVersion(agent.name, against));
  if (other === undefined) return <Pending what="the other version" error={error} />;
  const [older, newer] = against < agent.version ? [other, agent] : [agent, other];
  const lines = diffLines(comparableText(older), comparableText(newer));
  return (
    <section className="card stack">
      <h2>
        From version {older.version} to {newer.version}
      </h2>
      {lines.every(({ kind }) => kind === 'same') ? (
        <p className="quiet">They are the same.</p>
      ) : (
        <Diff lines={lines} label="Difference of the versions" />
      )}
    </section>
  );
}
