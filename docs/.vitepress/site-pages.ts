// Which documents of the repository are pages of the site, and where each stands in its sidebar: first what users read,
// then what contributors read.
//
// Invariants:
//   P1. A document is a page, unless it lies in a folder for tools, in a template or in what others wrote.
//   P2. Every page but the first is in the sidebar once: in the first section whose pattern its path fits.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DefaultTheme } from 'vitepress';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** (P1) Folders by name, anywhere; those that begin with a dot are none either. */
const foreignFolders = new Set(['node_modules', 'dist', 'peers', 'template', 'coverage']);

/** Paths from the root, with forward slashes. */
export function sitePages(folder = ''): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory())
        return entry.name.startsWith('.') || foreignFolders.has(entry.name) ? [] : sitePages(path);
      return entry.name.endsWith('.md') ? [path] : [];
    });
}

/** As globs, for VitePress. */
export const excludedPages = [...foreignFolders].map((name) => `**/${name}/**`).concat('**/.*/**');

/** `docs/README.md` is the page `/docs/`. */
export const rewritten = (path: string): string => path.replace(/(^|\/)README\.md$/, '$1index.md');

export const addressOf = (path: string): string => `/${rewritten(path).replace(/(?:index)?\.md$/, '')}`;

interface Section {
  readonly text: string;
  readonly holds: RegExp;
  /** Pages that go before the others, in this order. */
  readonly first?: readonly string[];
  readonly isClosed?: boolean;
}

interface Part {
  readonly text: string;
  readonly sections: readonly Section[];
}

const parts: readonly Part[] = [
  {
    text: 'For users',
    sections: [
      {
        text: 'Start',
        holds: /^docs\/(?:start\/.*|README|rap)\.md$/,
        first: [
          'docs/README.md',
          'docs/start/developer.md',
          'docs/start/tool-author.md',
          'docs/start/app-author.md',
          'docs/start/operator.md',
          'docs/rap.md',
        ],
      },
      { text: 'Guides', holds: /^docs\/guides\// },
      { text: 'How to', holds: /^docs\/how-to\/(?!add-|change-)/ },
      { text: 'Reference', holds: /^docs\/(?:reference\/.*|glossary|guarantees)\.md$/ },
      { text: 'Programs', holds: /^apps\// },
      { text: 'Packages', holds: /^libs\/(?:client|tool-server)\// },
      { text: 'Codes', holds: /^docs\/errors\//, first: ['docs/errors/README.md'], isClosed: true },
      { text: 'Alerts', holds: /^docs\/runbooks\/|^deploy\//, first: ['docs/runbooks/README.md'], isClosed: true },
    ],
  },
  {
    text: 'For contributors',
    sections: [
      {
        text: 'The house',
        holds: /^[^/]+\.md$/,
        first: ['CONTRIBUTING.md', 'ARCHITECTURE.md', 'STYLE.md', 'REVIEW.md'],
      },
      { text: 'How to change it', holds: /^docs\/how-to\// },
      { text: 'Proofs', holds: /^docs\/[^/]+\.md$/ },
      { text: 'Decisions', holds: /^docs\/adr\//, first: ['docs/adr/README.md'], isClosed: true },
      { text: 'Inside', holds: /^libs\//, isClosed: true },
      { text: 'Tests and bench', holds: /^(?:test|bench)\//, isClosed: true },
    ],
  },
];

/** (P2) @throws Error for a page without a section. */
export function sidebarOf(pages: readonly string[]): DefaultTheme.SidebarItem[] {
  const rest = new Set(pages.filter((path) => path !== 'README.md'));
  const sidebar = parts.map(({ text, sections }) => ({
    text,
    items: sections.map((section) => {
      const held = [...rest].filter((path) => section.holds.test(path));
      for (const path of held) rest.delete(path);
      return itemOf(section, held);
    }),
  }));
  if (rest.size > 0) throw new Error(`no section of docs/.vitepress/site-pages.ts holds ${[...rest].join(', ')} (P2)`);
  return sidebar;
}

function itemOf({ text, first = [], isClosed = false }: Section, held: readonly string[]): DefaultTheme.SidebarItem {
  const ordered = [...first.filter((path) => held.includes(path)), ...held.filter((path) => !first.includes(path))];
  return {
    text,
    collapsed: isClosed,
    items: ordered.map((path) => ({ text: titleOf(path), link: addressOf(path) })),
  };
}

/** The first heading, without its marks. */
function titleOf(path: string): string {
  const heading = /^# (.+)$/m.exec(readFileSync(join(root, path), 'utf8'))?.[1];
  if (heading === undefined) throw new Error(`${path} has no heading of the first level`);
  return heading.replaceAll('`', '');
}
