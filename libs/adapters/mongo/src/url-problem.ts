// Whether a URL can be used at all, before anybody is asked: what it says, and the files that it names.
//
// Invariants:
//   U1. Nothing of the URL, which may hold a password, is repeated.
import { accessSync, constants } from 'node:fs';
import { mongo } from 'mongoose';

const fileOptions = ['tlsCAFile', 'tlsCertificateKeyFile', 'tlsCRLFile'] as const;

/** Null, or what is wrong with it. */
export function mongoUrlProblem(url: string): string | null {
  try {
    // Reads the URL; nothing is connected.
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
    return false; // that is the answer
  }
}
