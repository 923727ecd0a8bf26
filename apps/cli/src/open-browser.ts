// Opens an address in the browser of this desktop, where there is one.
import { spawn } from 'node:child_process';

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Resolves with whether a program took the address; it is an argument, and passes through no shell. */
export function openBrowser(url: string): Promise<boolean> {
  const { protocol } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') return Promise.resolve(false);
  const [command, ...args] = openers[process.platform] ?? ['xdg-open'];
  return new Promise((resolve) => {
    const opener = spawn(command, [...args, url], { stdio: 'ignore', detached: true });
    opener.once('error', () => resolve(false));
    opener.once('spawn', () => {
      opener.unref();
      resolve(true);
    });
  });
}
