// All agents, and how to make one.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactElement } from 'react';
import { agents } from '../api/queries.ts';
import { CurlButton } from '../elements/copy-button.tsx';
import { Icon } from '../elements/icon.tsx';
import { Window } from '../elements/modal.tsx';
import { plainLine } from '../elements/plain-text.ts';
import { Empty, Failed, Loading } from '../elements/states.tsx';
import { AgentEditor } from './agent-editor.tsx';
import { emptyAgent } from './agent-text.ts';

export function AgentsScreen(): ReactElement {
  const { data, error, refetch } = useQuery(agents);
  const [isNew, setNew] = useState(false);
  const navigate = useNavigate();
  return (
    <>
      <header className="screen-head">
        <h1>Agents</h1>
        <div className="row">
          <CurlButton path="/v1/agents" />
          <button type="button" className="button main-button" onClick={() => setNew(true)}>
            <Icon name="plus" /> New agent
          </button>
        </div>
      </header>
      <div className="screen-body">
        {data === undefined ? (
          error === null ? (
            <Loading what="agents" />
          ) : (
            <Failed error={error} again={() => void refetch()} />
          )
        ) : null}
        {data?.length === 0 ? (
          <Empty title="No agent yet">
            <p>
              An agent is a name, instructions, a model and the tool servers that it may use. The model “demo” needs no
              key.
            </p>
            <button type="button" className="button main-button" onClick={() => setNew(true)}>
              <Icon name="plus" /> New agent
            </button>
          </Empty>
        ) : null}
        <ul className="tiles plain-list">
          {(data ?? []).map(({ name, version, model, tool_servers: servers, instructions }) => (
            <li key={name}>
              <Link to="/agents/$agentName" params={{ agentName: name }} className="card tile">
                <strong>
                  <bdi>{plainLine(name, 60)}</bdi> <span className="quiet">v{version}</span>
                </strong>
                <span>{plainLine(`${model.provider}${model.name === '' ? '' : `, ${model.name}`}`, 80)}</span>
                <span className="quiet">{servers.length === 0 ? 'no tools' : plainLine(servers.join(', '), 100)}</span>
                <span className="quiet">{plainLine(instructions, 140)}</span>
              </Link>
            </li>
          ))}
        </ul>
      </div>
      {isNew ? (
        <Window title="New agent" isWide close={() => setNew(false)}>
          <AgentEditor
            first={emptyAgent}
            label="Create agent"
            done={({ name }) => {
              setNew(false);
              void navigate({ to: '/agents/$agentName', params: { agentName: name } });
            }}
          />
        </Window>
      ) : null}
    </>
  );
}
