// A button that makes one request: what was done or refused is said, and what is shown is read again.
import type { ReactElement } from 'react';
import { attempt } from '../shell/attempt.ts';
import { Button } from './button.tsx';

export function RequestButton(props: {
  readonly label: string;
  /** What is said when the request was taken. */
  readonly done: string;
  readonly request: () => Promise<unknown>;
  readonly kind?: 'main' | 'danger';
  /** It stands at the end of its row. */
  readonly isLast?: boolean;
  readonly isDisabled?: boolean;
}): ReactElement {
  const { label, done, request, kind, isLast = false, isDisabled } = props;
  return (
    <Button
      kind={kind}
      className={isLast ? 'end' : undefined}
      disabled={isDisabled}
      onClick={() => attempt(done, request)}
    >
      {label}
    </Button>
  );
}
