// A difference of two texts, or a patch, with signs that do not need colours.
import type { ReactElement } from 'react';
import type { DiffLine } from './diff-lines.ts';
import { plainText } from './plain-text.ts';

const signs = { same: ' ', added: '+', removed: '−', place: ' ' } as const;
const names = { same: '', added: 'added: ', removed: 'removed: ', place: '' } as const;

export function Diff({ lines, label }: { readonly lines: readonly DiffLine[]; readonly label: string }): ReactElement {
  return (
    <div className="diff" role="region" aria-label={label} tabIndex={0}>
      {lines.map(({ kind, text }, index) => (
        <div key={index} className="diff-line" data-kind={kind}>
          <span className="diff-sign" aria-hidden="true">
            {signs[kind]}
          </span>
          <span className="visually-hidden">{names[kind]}</span>
          <span>{plainText(text)}</span>
        </div>
      ))}
    </div>
  );
}
