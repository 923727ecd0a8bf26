// A tool server of the thread has other tools than the thread has loaded: which, and a button that takes them.
//
// Invariants:
//   N1. The thread keeps its tools until it is told to load them anew.
//   N2. A key that may not probe, and a server that does not answer, show nothing.
import { useQueries } from '@tanstack/react-query';
import { toolsetChange } from '@dormouse/client';
import type { ReactElement } from 'react';
import { api, ask } from '../../api/client.ts';
import { manifestNow } from '../../api/queries.ts';
import { plainLine } from '../../elements/plain-text.ts';
import { RequestButton } from '../../elements/request-button.tsx';
import { useThreadView } from '../thread-context.ts';

export function NewTools(): ReactElement | null {
  const { thread, state, at } = useThreadView();
  const isOpen = at === undefined && (state.status ?? thread.status) !== 'closed';
  const { toolsets } = thread;
  const manifests = useQueries({
    queries: toolsets.map(({ tool_server: server }) => ({ ...manifestNow(server), enabled: isOpen })),
  });
  if (!isOpen) return null;
  const news = toolsets.flatMap(({ tool_server: server, sha256, tools }, index) => {
    const now = manifests[index]?.data;
    if (now === undefined || !now.ok || now.sha256 === null || now.sha256 === sha256) return []; // (N2)
    return [`${server} has other tools now: ${toolsetChange(tools, now.toolset)}.`];
  });
  const take = (): Promise<unknown> =>
    ask(api.POST('/v1/threads/{id}/toolsets/refresh', { params: { path: { id: thread.id } } }));
  return (
    <div role="status">
      {news.map((line) => (
        <p key={line} className="row pad quiet">
          <span className="grow">{plainLine(line, 400)}</span>
          <RequestButton label="Refresh tools" done="The tool servers are asked for their tools" request={take} />
        </p>
      ))}
    </div>
  );
}
