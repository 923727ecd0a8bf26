// The few parts of Markdown that the rules need: links, headings, inline code, fenced blocks. Not a parser: it handles
// only the style of this repository.

export interface Link {
  readonly label: string;
  readonly target: string;
}

export interface Fence {
  /** The word behind the opening fence, e.g. `sh`. */
  readonly language: string;
  readonly text: string;
}

const fence = /^(`{3,}|~{3,})([^\n]*)\n([\s\S]*?)^\1[^\S\n]*$/gm;
const comment = /<!--[\s\S]*?-->/g;

/** The text without fenced blocks and comments, which are not prose. */
const proseOf = (text: string): string => text.replaceAll(fence, '').replaceAll(comment, '');

export function linksOf(text: string): Link[] {
  const prose = proseOf(text).replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, '·'));
  return [...prose.matchAll(/\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^()\s]+(?:\([^()\s]*\))?)(?:\s+"[^"]*")?\)/g)].map(
    ([, label = '', target = '']) => ({ label, target }),
  );
}

/** The anchors that the page's headings make, as code hosts build them. */
export function anchorsOf(text: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, heading = ''] of text.replaceAll(fence, '').matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)) {
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    anchors.add(times === 0 ? slug : `${slug}-${times}`);
  }
  return anchors;
}

export function inlineCodeOf(text: string): string[] {
  return [...proseOf(text).matchAll(/(?<!`)`([^`\n]+)`(?!`)/g)].map(([, code = '']) => code);
}

export function fencesOf(text: string): Fence[] {
  return [...text.matchAll(fence)].map(([, , language = '', body = '']) => ({ language: language.trim(), text: body }));
}

/** The cells of every table row, header and ruler left out. */
export function tableRowsOf(text: string): string[][] {
  const rows: string[][] = [];
  let inTable = false;
  for (const line of proseOf(text).split('\n')) {
    if (!line.startsWith('|')) inTable = false;
    else if (/^\|[\s:|-]+\|$/.test(line)) inTable = true;
    else if (inTable)
      rows.push(
        line
          .split(/(?<!\\)\|/)
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
  }
  return rows;
}

/** The text between `<!-- name:begin -->` and `<!-- name:end -->`. */
export function sectionOf(text: string, name: string): string | undefined {
  return new RegExp(`<!-- ${name}:begin -->([\\s\\S]*?)<!-- ${name}:end -->`).exec(text)?.[1];
}

/** The text under a heading of the second level, up to the next one; empty when there is none. */
export function sectionUnder(text: string, heading: string): string {
  const parts = text.split(/^## /m);
  const found = parts.slice(1).find((part) => part.split('\n', 1)[0]?.trim() === heading);
  return found === undefined ? '' : found.slice(found.indexOf('\n') + 1);
}
