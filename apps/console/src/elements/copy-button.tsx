// Copies a text, and says that it did.
import { useState, type ReactElement } from 'react';
import { curlOf } from '../api/curl.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { say } from '../shell/notices.ts';

export function CopyButton({ text, label }: { readonly text: string; readonly label: string }): ReactElement {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await copyText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <Button kind="quiet" onClick={() => void copy()} title={label}>
      <Icon name={isCopied ? 'check' : 'copy'} />
      <span>{isCopied ? 'Copied' : label}</span>
    </Button>
  );
}

export function CurlButton(request: {
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
}): ReactElement {
  return <CopyButton label="Copy as curl" text={curlOf(request.method ?? 'GET', request.path, request.body)} />;
}

export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch (error) {
    say('error', `The browser did not allow copying: ${String(error)}`);
  }
}
