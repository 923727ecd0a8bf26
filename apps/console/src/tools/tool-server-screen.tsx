// One tool server: how it is, what it offers, and a form to try each tool with.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { api, ask } from '../api/client.ts';
import { queries, toolServer, type ToolServerDetails } from '../api/queries.ts';
import { Button } from '../elements/button.tsx';
import { CurlButton } from '../elements/copy-button.tsx';
import { Crumbs } from '../shell/crumbs.tsx';
import { durationText } from '../elements/duration.ts';
import { Fact } from '../elements/fact.tsx';
import { Measure } from '../elements/measure.tsx';
import { plainLine, plainText } from '../elements/plain-text.ts';
import { Failed, Loading, Pending } from '../elements/states.tsx';
import { attempt } from '../shell/attempt.ts';
import { useActions } from '../shell/actions.ts';
import { toolsOf, type ShownTool } from './toolset.ts';
import { TryTool } from './try-tool.tsx';

const route = getRouteApi('/tools/$serverName');

export function ToolServerScreen(): ReactElement {
  const { serverName } = route.useParams();
  const { data, error, refetch } = useQuery(toolServer(serverName));
  if (data === undefined) return <Pending what="the tool server" error={error} again={() => void refetch()} />;
  return <Server key={serverName} server={data} />;
}

function Server({ server }: { readonly server: ToolServerDetails }): ReactElement {
  const { name, paused, base_url: url, health } = server;
  const path = { params: { path: { name } } };
  const probe = useQuery({
    queryKey: ['probe', name],
    queryFn: () => ask(api.POST('/v1/tool-servers/{name}/probe', path)),
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
  const again = (): void => void queries.invalidateQueries({ queryKey: ['probe', name] });
  const toggle = (): void =>
    attempt(paused ? `${name} is resumed` : `${name} is paused`, () =>
      ask(paused ? api.POST('/v1/tool-servers/{name}/resume', path) : api.POST('/v1/tool-servers/{name}/pause', path)),
    );
  useActions('tool-server', [
    { id: 'probe', label: `Probe ${name}`, run: again },
    { id: 'pause', label: `${paused ? 'Resume' : 'Pause'} ${name}`, run: toggle },
  ]);
  return (
    <>
      <header className="screen-head">
        <div className="row">
          <Crumbs to="/tools" list="Tool servers" name={name} />
          {paused ? <span className="badge">paused</span> : null}
        </div>
        <div className="row">
          <CurlButton path={`/v1/tool-servers/${name}`} />
          <Button onClick={toggle}>{paused ? 'Resume' : 'Pause'}</Button>
          <Button kind="main" disabled={probe.isFetching} onClick={again}>
            Probe
          </Button>
        </div>
      </header>
      <div className="screen-body">
        <dl className="facts card">
          <Fact name="Base URL">{plainText(url)}</Fact>
          <Fact name="Credential">{server.auth === null ? 'none' : plainLine(server.auth.type, 60)}</Fact>
          <Fact name="Pinned manifest">
            {server.pinned_sha256 === null ? 'no' : <code>{server.pinned_sha256}</code>}
          </Fact>
        </dl>
        <HealthCard health={health} />
        {probe.error === null ? null : <Failed error={probe.error} again={again} />}
        {probe.data === undefined ? (
          probe.error === null ? (
            <Loading what="its manifest" />
          ) : null
        ) : (
          <>
            <p role="status" className={probe.data.ok ? 'quiet' : 'problem'}>
              {probe.data.ok
                ? `The manifest is good, read in ${durationText(probe.data.latency_ms)}.`
                : 'The manifest cannot be used:'}{' '}
              {plainText(probe.data.problems.join('; '))}
              {probe.data.sha256 === null ? null : (
                <>
                  {' '}
                  SHA-256 <code>{probe.data.sha256.slice(0, 16)}…</code>
                </>
              )}
            </p>
            <Tools server={name} tools={toolsOf(probe.data.toolset)} />
          </>
        )}
      </div>
    </>
  );
}

function HealthCard({ health }: { readonly health: ToolServerDetails['health'] }): ReactElement {
  const { state, breaker, ack_ms: ack, callback_ms: callback, errors, oldest_open_call: oldest } = health;
  const ms = (value: number | null): string => (value === null ? '–' : durationText(value));
  return (
    <section className="card numbers" aria-label="Health">
      <Measure
        name="Health"
        value={
          <span className="badge" data-status={state}>
            {state}
          </span>
        }
        note={`breaker ${breaker.replaceAll('_', ' ')}`}
      />
      <Measure name="Acknowledged in" value={ms(ack.p50)} note={`p99 ${ms(ack.p99)}`} />
      <Measure name="Called back after" value={ms(callback.p50)} note={`p99 ${ms(callback.p99)}`} />
      <Measure name="Errors in the last hour" value={errors['1h']} note={`${errors['24h']} in a day`} />
      {oldest === null ? null : (
        <p>
          <span className="quiet">Oldest open call</span>
          <code>{oldest}</code>
        </p>
      )}
    </section>
  );
}

function Tools({ server, tools }: { readonly server: string; readonly tools: readonly ShownTool[] }): ReactElement {
  const { tool: wished } = route.useSearch();
  const shown = tools.find(({ name }) => name === wished) ?? tools[0];
  if (shown === undefined) return <p className="quiet">It offers no tool.</p>;
  return (
    <div className="split">
      <ul className="plain-list" aria-label="Tools">
        {tools.map(({ name, description, annotations }) => (
          <li key={name}>
            <Link
              to="/tools/$serverName"
              params={{ serverName: server }}
              search={{ tool: name }}
              replace
              className="card tile"
              aria-current={name === shown.name}
            >
              <code>{plainLine(name, 80)}</code>
              <span className="quiet">{plainLine(description, 160)}</span>
              {annotations.length === 0 ? null : (
                <span className={annotations.includes('destructive') ? 'error-text' : 'quiet'}>
                  {annotations.map((each) => plainLine(each, 30)).join(', ')}
                </span>
              )}
            </Link>
          </li>
        ))}
      </ul>
      <TryTool key={shown.name} server={server} tool={shown} />
    </div>
  );
}
