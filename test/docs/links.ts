// Links between documents.
//
// L1  A relative link names a file or folder of the repository.
// L2  The part after `#` is a heading of the page it names.
// L3  A link does not leave the repository, and does not begin at the root of a disk or a host.
import type { Document, Violation } from './document.ts';
import { anchorsOf, linksOf } from './markdown.ts';

export interface Repository {
  has(path: string): boolean;
  read(path: string): string;
}

export function brokenLinks(documents: readonly Document[], repository: Repository): Violation[] {
  return documents.flatMap((document) =>
    linksOf(document.text).flatMap(({ target }) => {
      const complaint = complaintAbout(document, target, repository);
      return complaint === undefined ? [] : [`${document.path} links to ${target}: ${complaint}`];
    }),
  );
}

function complaintAbout(document: Document, target: string, repository: Repository): string | undefined {
  if (/^(https?|mailto):/.test(target)) return undefined;
  const [file = '', anchor] = target.split('#');
  if (file.startsWith('/')) return 'a link is relative (L3)';
  const path = file === '' ? document.path : resolve(document.path, file);
  if (path === undefined) return 'outside the repository (L3)';
  if (!repository.has(path)) return 'there is no such file (L1)';
  if (anchor === undefined || !path.endsWith('.md')) return undefined;
  const text = path === document.path ? document.text : repository.read(path);
  return anchorsOf(text).has(anchor) ? undefined : 'the page has no such heading (L2)';
}

function resolve(from: string, link: string): string | undefined {
  const parts = from.split('/').slice(0, -1);
  for (const part of decodeURIComponent(link).split('/')) {
    if (part === '..') {
      if (parts.pop() === undefined) return undefined;
    } else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/') || '.';
}
