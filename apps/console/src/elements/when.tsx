// A moment, or how long something has lasted, in words that follow the clock.
import type { ReactElement } from 'react';
import { agoText, durationText } from './duration.ts';
import { useNow } from './now.ts';

export function When({ at }: { readonly at: string }): ReactElement {
  return (
    <time dateTime={at} title={at}>
      {agoText(at, useNow())}
    </time>
  );
}

/** `for 3 m 5 s`, since then. */
export function Lasting({ since }: { readonly since: string }): ReactElement {
  return (
    <time dateTime={since} title={`since ${since}`}>
      {durationText(Math.max(0, useNow() - Date.parse(since)))}
    </time>
  );
}
