// What the model is saying right now: text, reasoning, and the arguments of calls as they are written.
import { lazy, Suspense, type ReactElement } from 'react';
import { plainText } from '../../elements/plain-text.ts';
import type { Draft } from '@dormouse/client';

const Markdown = lazy(() => import('../../elements/markdown.tsx').then((module) => ({ default: module.Markdown })));

export function DraftRow({ draft }: { readonly draft: Draft }): ReactElement {
  const { text, reasoning, toolInputs, attempt } = draft;
  return (
    <article className="message" data-role="assistant" data-streaming aria-busy="true">
      <header className="message-head">
        <span className="author">assistant</span>
        <span className="quiet">{attempt > 1 ? `attempt ${attempt}` : 'writing…'}</span>
      </header>
      {reasoning === '' ? null : <p className="reasoning">{plainText(reasoning)}</p>}
      {text === '' ? null : (
        <Suspense fallback={<p className="plain">{plainText(text)}</p>}>
          <Markdown text={text} />
        </Suspense>
      )}
      {toolInputs.map((input, index) => (
        <pre key={index} className="tool-input" aria-label="Arguments of a call">
          {plainText(input)}
        </pre>
      ))}
    </article>
  );
}
