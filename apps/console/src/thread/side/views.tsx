// The current views of tools: what their servers show beside the conversation, as data and never as a page of theirs.
import type { ReactElement } from 'react';
import { CurlButton } from '../../elements/copy-button.tsx';
import { Diff } from '../../elements/diff.tsx';
import { patchLines } from '../../elements/diff-lines.ts';
import { JsonView } from '../../elements/json-view.tsx';
import { Plain } from '../../elements/plain.tsx';
import { plainLine } from '../../elements/plain-text.ts';
import { Empty } from '../../elements/states.tsx';
import { useThreadView } from '../thread-context.ts';

export function Views(): ReactElement {
  const { thread, state } = useThreadView();
  if (state.views.size === 0)
    return (
      <Empty title="No view is shown">
        <p>
          A tool can keep a view beside the conversation, such as a list of changes. Ask the example agent to propose a
          change.
        </p>
      </Empty>
    );
  return (
    <div className="stack pad">
      <CurlButton path={`/v1/threads/${thread.id}/views`} />
      {[...state.views].map(([type, content]) => (
        <figure key={type} className="card view">
          <figcaption>{plainLine(type, 120)}</figcaption>
          <ViewContent content={content} />
        </figure>
      ))}
    </div>
  );
}

/** Patches as differences, texts as texts, everything else as data. */
function ViewContent({ content }: { readonly content: unknown }): ReactElement {
  if (typeof content === 'object' && content !== null) {
    const { patch, text, diffs } = content as {
      readonly patch?: unknown;
      readonly text?: unknown;
      readonly diffs?: unknown;
    };
    if (Array.isArray(diffs))
      return (
        <>
          {diffs.map((each: unknown, index) => (
            <ViewContent key={`${index}`} content={each} />
          ))}
        </>
      );
    if (typeof patch === 'string') return <Diff lines={patchLines(patch)} label="Change" />;
    if (typeof text === 'string') return <Plain text={text} />;
  }
  return <JsonView value={content} label="View" />;
}
