// A JSON value as text with colours for its parts; never as HTML.
import type { ReactElement } from 'react';
import { plainText } from './plain-text.ts';

const charactersMax = 200_000;
const token = /("(?:\\.|[^"\\])*")(\s*:)?|\b(true|false|null)\b|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/g;

export function JsonView({ value, label }: { readonly value: unknown; readonly label?: string }): ReactElement {
  const text = plainText(JSON.stringify(value, null, 2) ?? 'undefined');
  return (
    <pre className="json" tabIndex={0} role="region" aria-label={label ?? 'JSON'}>
      <code>{text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : coloured(text)}</code>
    </pre>
  );
}

function coloured(text: string): readonly (ReactElement | string)[] {
  const parts: (ReactElement | string)[] = [];
  let end = 0;
  for (const match of text.matchAll(token)) {
    const [whole, quoted, colon] = match;
    parts.push(text.slice(end, match.index));
    const kind = quoted === undefined ? 'json-literal' : colon === undefined ? 'json-text' : 'json-name';
    parts.push(
      <span key={match.index} className={kind}>
        {whole}
      </span>,
    );
    end = match.index + whole.length;
  }
  return [...parts, text.slice(end)];
}
