// The notices, in a corner; read out where a screen reader listens.
import type { ReactElement } from 'react';
import { Button } from '../elements/button.tsx';
import { Icon } from '../elements/icon.tsx';
import { plainText } from '../elements/plain-text.ts';
import { dismiss, useNotices } from './notices.ts';

export function Notices(): ReactElement {
  const notices = useNotices();
  return (
    <div className="notices" role="status" aria-live="polite">
      {notices.map(({ id, kind, text }) => (
        <div key={id} className="notice" data-kind={kind}>
          <span>{plainText(text)}</span>
          <Button kind="quiet" onClick={() => dismiss(id)} aria-label="Dismiss">
            <Icon name="cross" />
          </Button>
        </div>
      ))}
    </div>
  );
}
