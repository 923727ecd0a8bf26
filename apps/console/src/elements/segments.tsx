// Buttons side by side of which one is chosen.
import type { ReactElement } from 'react';

export function Segments<Value>(props: {
  readonly label: string;
  readonly values: readonly Value[];
  readonly chosen: Value;
  readonly choose: (value: Value) => void;
  readonly text?: (value: Value) => string;
}): ReactElement {
  const { label, values, chosen, choose, text = String } = props;
  return (
    <div className="segments" role="group" aria-label={label}>
      {values.map((value) => (
        <button key={text(value)} type="button" aria-pressed={value === chosen} onClick={() => choose(value)}>
          {text(value)}
        </button>
      ))}
    </div>
  );
}
