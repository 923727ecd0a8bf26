// A button. It sends a form only where its `type` says so.
import type { ComponentProps, ReactElement } from 'react';

export function Button(
  props: ComponentProps<'button'> & { readonly kind?: 'main' | 'danger' | 'quiet' },
): ReactElement {
  const { kind, className, ...others } = props;
  const names = ['button', kind === undefined ? '' : `${kind}-button`, className ?? ''];
  return <button type="button" {...others} className={names.filter((name) => name !== '').join(' ')} />;
}
