// Whether a URL can be used at all, checked before any connection: its syntax, and the files that it names.
//
// Invariants:
//   U1. No part of the URL, which may contain a password, is repeated.
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import type Mongoose from 'mongoose';

const load = createRequire(import.meta.url);

const fileOptions = ['tlsCAFile', 'tlsCertificateKeyFile', 'tlsCRLFile'] as const;

/** Null, or the problem of the URL. */
export function mongoUrlProblem(url: string): string | null {
  if (hasOpenPassword(url)) return unusable;
  try {
    const { mongo }: typeof Mongoose = load('mongoose'); // on-demand.ts
    // Parses the URL; nothing is connected.
    void new mongo.MongoClient(url);
  } catch {
    return unusable; // (U1)
  }
  const options = new URLSearchParams(url.slice(url.indexOf('?') + 1));
  const unreadable = fileOptions.find((name) => !isReadable(options.get(name)));
  return unreadable === undefined ? null : `${unreadable} of it names a file that cannot be read`;
}

const unusable =
  'cannot be read: look for an option that MongoDB does not know, or a user or password that is not percent-encoded';

/** The driver would take the rest of such a password for the name of a server, and wait for it. */
function hasOpenPassword(url: string): boolean {
  const [, authority = '', path = ''] = /^[^/]*\/\/([^/?]*)([^?]*)/.exec(url) ?? [];
  return authority.split('@').length > 2 || path.includes('@');
}

function isReadable(path: string | null): boolean {
  if (path === null) return true;
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false; // missing or unreadable
  }
}
