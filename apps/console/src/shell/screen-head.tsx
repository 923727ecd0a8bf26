// The head of a screen: its name, its request as a command line, and what can be done there.
import type { ReactElement, ReactNode } from 'react';
import { CurlButton } from '../elements/copy-button.tsx';

export function ScreenHead(props: {
  readonly title: string;
  readonly path: string;
  readonly children?: ReactNode;
}): ReactElement {
  const { title, path, children } = props;
  return (
    <header className="screen-head">
      <h1>{title}</h1>
      <div className="row">
        <CurlButton path={path} />
        {children}
      </div>
    </header>
  );
}
