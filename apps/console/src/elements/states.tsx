// The states of a screen that has nothing to show: empty, loading, failed. Each says what to do next.
import type { ReactElement, ReactNode } from 'react';
import { ApiProblem } from '@dormouse/client';
import { problemText } from '../api/client.ts';
import { Button } from './button.tsx';
import { plainText } from './plain-text.ts';

export function Empty({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactElement {
  return (
    <div className="empty">
      <h2>{title}</h2>
      <div>{children}</div>
    </div>
  );
}

export function Loading({ what }: { readonly what: string }): ReactElement {
  return (
    <p className="loading" role="status">
      Loading {what}…
    </p>
  );
}

/** What is shown in place of what is not here yet. */
export function Pending(props: {
  readonly what: string;
  readonly error: unknown;
  readonly again?: () => void;
}): ReactElement {
  const { what, error, again } = props;
  return error === null ? <Loading what={what} /> : <Failed error={error} again={again} />;
}

export function Failed({ error, again }: { readonly error: unknown; readonly again?: () => void }): ReactElement {
  const code = error instanceof ApiProblem ? error.code : undefined;
  return (
    <div className="failed" role="alert">
      <p>{plainText(problemText(error))}</p>
      <p className="row">
        {code === undefined ? null : (
          <a href={`/errors/${encodeURIComponent(code)}`} target="_blank" rel="noreferrer">
            What {code} means
          </a>
        )}
        {again === undefined ? null : <Button onClick={again}>Try again</Button>}
      </p>
    </div>
  );
}
