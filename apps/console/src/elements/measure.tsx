// A number that is read at a glance, under its name.
import type { ReactElement, ReactNode } from 'react';

export function Measure(props: {
  readonly name: string;
  readonly value: ReactNode;
  readonly note?: string;
}): ReactElement {
  const { name, value, note } = props;
  return (
    <p>
      <span className="quiet">{name}</span>
      <strong>{value}</strong>
      {note === undefined ? null : <span className="quiet">{note}</span>}
    </p>
  );
}
