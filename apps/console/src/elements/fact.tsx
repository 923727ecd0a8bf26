// A name and what it is, in a list of facts.
import type { ReactElement, ReactNode } from 'react';

export const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactElement => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
