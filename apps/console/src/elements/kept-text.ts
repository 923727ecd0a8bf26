// Text that a person is typing: it survives a reload, a lost connection and a visit to another screen.
import { useState } from 'react';

const prefix = 'dormouse-typed ';

/** The text, how to change it, and how to forget it once it was sent. */
export function useKept(name: string): readonly [string, (text: string) => void, () => void] {
  const [text, setText] = useState(() => sessionStorage.getItem(prefix + name) ?? '');
  const change = (next: string): void => {
    if (next === '') sessionStorage.removeItem(prefix + name);
    else sessionStorage.setItem(prefix + name, next);
    setText(next);
  };
  return [text, change, () => change('')];
}
