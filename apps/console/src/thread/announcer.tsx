// Says the newest answer or question to a screen reader: for a moment, so that a reader who walks through the page does
// not meet it a second time.
import { useEffect, useState, type ReactElement } from 'react';
import { useThreadView } from './thread-context.ts';

const afterMs = 400;
const shownMs = 4_000;

export function Announcer(): ReactElement {
  const { state, at } = useThreadView();
  const [said, setSaid] = useState('');
  const { spoken } = state;
  useEffect(() => {
    const begin = setTimeout(() => setSaid(spoken.text), afterMs);
    const end = setTimeout(() => setSaid(''), afterMs + shownMs);
    return () => {
      clearTimeout(begin);
      clearTimeout(end);
    };
  }, [spoken]);
  return (
    <p className="visually-hidden" role="status">
      {at === undefined ? said : ''}
    </p>
  );
}
