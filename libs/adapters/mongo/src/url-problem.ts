// Whether a URL can be used at all, checked before any connection: its syntax, and the files that it names.
//
// Invariants:
//   U1. No part of the URL, which may contain a password, is repeated.
import { accessSync, constants } from 'node:fs';
import { mongo } from 'mongoose';

const fileOptions = ['tlsCAFile', 'tlsCertificateKeyFile', 'tlsCRLFile'] as const;

/** Null, or the problem of the URL. */
export function mongoUrlProblem(url: string): string | null {
  try {
    // Parses the URL; nothing is connected.
    void new mongo.MongoClient(url);
  } catch {
    return 'cannot be read: look for an option that MongoDB does not know, or a user or password that is not percent-encoded'; // (U1)
  }
  const options = new URLSearchParams(url.slice(url.indexOf('?') + 1));
  const unreadable = fileOptions.find((name) => !isReadable(options.get(name)));
  return unreadable === undefined ? null : `${unreadable} of it names a file that cannot be read`;
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
