// A line of text with its label. It has to be filled in before its form is sent.
import type { ReactElement } from 'react';

export function TextField(props: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly type?: 'text' | 'url' | 'password';
  readonly placeholder?: string;
  readonly hasFocus?: boolean;
}): ReactElement {
  const { label, value, onChange, type = 'text', placeholder, hasFocus = false } = props;
  return (
    <label className="field grow">
      <span>{label}</span>
      <input
        type={type}
        required
        autoFocus={hasFocus}
        value={value}
        placeholder={placeholder}
        autoComplete={type === 'password' ? 'off' : undefined}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}
