// HTML of the pages that this server writes itself: values are escaped unless they are HTML already.
//
// Invariants:
//   H1. No text becomes markup: what a template is given is escaped, and prose knows paragraphs, lists, headings, code,
//       emphasis and links to pages of this server, nothing else.

export interface Html {
  readonly html: string;
}

type Value = string | number | Html | readonly Html[];

/** (H1) */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  const filled = parts.map((part, index) => {
    const value = values[index];
    return part + (value === undefined ? '' : htmlOf(value));
  });
  return { html: filled.join('') };
}

function htmlOf(value: Value): string {
  if (typeof value === 'object') return 'html' in value ? value.html : value.map((each) => each.html).join('');
  return escaped(String(value));
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');

/** Markdown as our own texts have it: paragraphs, lists, headings of two levels. */
export const prose = (text: string): Html => ({
  html: text
    .split(/\n{2,}/)
    .filter((block) => block.trim() !== '')
    .map(blockOf)
    .join('\n'),
});

function blockOf(block: string): string {
  const heading = /^(#{1,2}) (.*)$/.exec(block);
  if (heading !== null) return `<h${heading[1]?.length}>${inline(heading[2] ?? '')}</h${heading[1]?.length}>`;
  if (!block.startsWith('- ')) return `<p>${inline(block)}</p>`;
  const items = block.split(/\n(?=- )/).map((item) => `<li>${inline(item.slice(2))}</li>`);
  return `<ul>${items.join('')}</ul>`;
}

/** One line of such a text. */
export const line = (text: string): Html => ({ html: inline(text) });

function inline(text: string): string {
  const [plain = '', ...codes] = escaped(text).split(/`([^`]*)`/);
  return codes.reduce(
    (all, part, index) => all + (index % 2 === 0 ? `<code>${part}</code>` : marked(part)),
    marked(plain),
  );
}

const marked = (text: string): string =>
  text
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replaceAll(/\[([^\]]+)\]\((\/[^)\s]*)\)/g, '<a href="$2">$1</a>');

export interface Page {
  readonly title: string;
  readonly main: Html;
  readonly nav?: Html;
}

/** A whole page; its style is a file of this server. */
export const pageText = ({ title, main, nav }: Page): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="stylesheet" href="/docs/style.css" />
      </head>
      <body>
        <a class="skip" href="#main">Skip to the text</a>
        ${nav ?? html``}
        <main id="main" tabindex="-1">${main}</main>
      </body>
    </html> `.html;
