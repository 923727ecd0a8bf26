// All agents, and how to make one.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactElement } from 'react';
import { agents } from '../api/queries.ts';
import { Button } from '../elements/button.tsx';
import { Icon } from '../elements/icon.tsx';
import { Window } from '../elements/modal.tsx';
import { plainLine } from '../elements/plain-text.ts';
import { Empty, Pending } from '../elements/states.tsx';
import { ScreenHead } from '../shell/screen-head.tsx';
import { AgentEditor } from './agent-editor.tsx';
import { emptyAgent } from './agent-text.ts';

export function AgentsScreen(): ReactElement {
  const { data, error, refetch } = useQuery(agents);
  const [isNew, setNew] = useState(false);
  const navigate = useNavigate();
  const add = (
    <Button kind="main" onClick={() => setNew(true)}>
      <Icon name="plus" /> New agent
    </Button>
  );
  return (
    <>
      <ScreenHead title="Agents" path="/v1/agents">
        {add}
      </ScreenHead>
      <div className="screen-body">
        {data === undefined ? <Pending what="agents" error={error} again={() => void refetch()} /> : null}
        {data?.length === 0 ? (
          <Empty title="No agent yet">
            <p>
              An agent is a name, instructions, a model and the tool servers that it may use. The model “demo” needs no
              key.
            </p>
            {add}
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
