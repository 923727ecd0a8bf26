// Links of the documents as links of the site. A document links relatively, as a reader of the repository needs it; here
// a link to a document becomes one to its page, and a link to a file of the source becomes one to a copy of it.
//
// Invariants:
//   K1. A link to nothing ends the build.
//   K2. A copy is text (`.txt`), so that every server shows it; a folder's copy is the list of its files.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { rewritten, root } from './site-pages.ts';

export interface PageLinks {
  /** The target that the site has, for a target of the document at this path. @throws Error for one to nothing. (K1) */
  readonly targetOf: (page: string, target: string) => string;
  /** Writes a copy of all that was linked to. */
  readonly writeCopies: (outDir: string) => void;
}

/** As code hosts make anchors of headings, so that a link works in both. */
export const slugOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

export function createPageLinks(pages: readonly string[]): PageLinks {
  const isPage = new Set(pages);
  const copied = new Set<string>();
  return {
    targetOf: (page, target) => {
      if (/^[a-z][a-z+.-]*:/i.test(target) || target.startsWith('#')) return target;
      const [file = '', hash] = target.split('#');
      const path = posix.join(posix.dirname(page), decodeURI(file)).replace(/\/$/, '');
      const anchor = hash === undefined ? '' : `#${hash}`;
      if (path.startsWith('..') || !existsSync(join(root, path))) throw new Error(`${page} links to ${target} (K1)`);
      if (isPage.has(path)) return `${rewritten(file)}${anchor}`;
      if (isPage.has(`${path}/README.md`)) return `${file.replace(/\/?$/, '/')}index.md${anchor}`;
      copied.add(path);
      return `/source/${path}.txt`;
    },
    writeCopies: (outDir) => {
      for (const path of copied) {
        const file = join(outDir, 'source', `${path}.txt`);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, textOf(path));
      }
    },
  };
}

/** (K2) */
function textOf(path: string): string {
  const file = join(root, path);
  return statSync(file).isDirectory() ? `${readdirSync(file).join('\n')}\n` : readFileSync(file, 'utf8');
}
