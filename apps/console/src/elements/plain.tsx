// Text of strangers as a paragraph: its lines stay, and it runs in its own direction.
import type { ReactElement, ReactNode } from 'react';
import { plainText } from './plain-text.ts';

export function Plain({ text, children }: { readonly text: string; readonly children?: ReactNode }): ReactElement {
  return (
    <p className="plain" dir="auto">
      {plainText(text)}
      {children}
    </p>
  );
}
