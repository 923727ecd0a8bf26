// What releases have left: for each a data directory of one process, and the collections and topics of a cluster, each
// as a kill left it, with what that release said of its threads.
//
//   corpus/COMMIT/standalone/   dormouse.db.gz, dormouse.db-wal.gz, key, master-key, expected.json
//   corpus/COMMIT/cluster/      collections.json.gz, topics.json.gz, key, master-key, expected.json
//
// `write-corpus.ts` adds the release that is checked out. None is ever changed or removed.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Recorded } from './recorded-threads.ts';

export interface Release {
  readonly commit: string;
  readonly directory: string;
  readonly expected: Recorded & {
    /** Accepted, and not decided when the release was killed. */
    readonly undecided?: { readonly thread: string; readonly message: string };
  };
}

export type Kind = 'standalone' | 'cluster';

/** Under 300 KB each, so that a hundred releases are a repository that can be cloned. */
export const bytesMax = 300_000;
export const corpus = join(import.meta.dirname, 'corpus');
export const keyFiles = ['key', 'master-key'] as const;

/** Oldest first, as far as their names are dated; the order does not matter. */
export function releases(kind: Kind): readonly Release[] {
  return readdirSync(corpus)
    .toSorted()
    .map((commit) => ({ commit, directory: join(corpus, commit, kind) }))
    .filter(({ directory }) => existsSync(directory))
    .map(({ commit, directory }) => ({
      ...{ commit, directory },
      expected: JSON.parse(readFileSync(join(directory, 'expected.json'), 'utf8')) as Release['expected'],
    }));
}

export const unpacked = (directory: string, file: string): Buffer =>
  gunzipSync(readFileSync(join(directory, `${file}.gz`)));

export function pack(directory: string, file: string, content: Buffer | string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, `${file}.gz`), gzipSync(content, { level: 9 }));
}

export function copyKeys(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const file of keyFiles) copyFileSync(join(from, file), join(to, file));
}
