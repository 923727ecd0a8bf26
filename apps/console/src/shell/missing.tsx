// An address that leads nowhere, and a screen that broke.
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { Empty, Failed } from '../elements/states.tsx';

export function Missing(): ReactElement {
  return (
    <Empty title="There is no such screen">
      <p>
        The address may be of another version. Go on with <Link to="/threads">all threads</Link>.
      </p>
    </Empty>
  );
}

export function Broken({ error, reset }: { readonly error: unknown; readonly reset: () => void }): ReactElement {
  return <Failed error={error} again={reset} />;
}
