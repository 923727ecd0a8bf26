// Text of a model or a user as Markdown, sanitised: no script, style, form or frame, no picture from elsewhere.
//
// Invariants:
//   M1. What is shown has passed DOMPurify and is inserted as nodes, never parsed again from a string.
//   M2. HTML that a stranger wrote is text: no parser ever sees it as HTML.
//   M3. Nothing in it can make a request: pictures of other places become links, and links open without a referrer.
import DOMPurify from 'dompurify';
import { Marked } from 'marked';
import { useLayoutEffect, useRef, type ReactElement } from 'react';

const charactersMax = 100_000;
const marked = new Marked({ gfm: true, breaks: true, async: false, renderer: { html: ({ text }) => escaped(text) } }); // (M2)
const purify = DOMPurify(globalThis.window);
const allowed = {
  ALLOWED_TAGS:
    'a b blockquote br code del em h1 h2 h3 h4 h5 h6 hr i img li ol p pre s strong sub sup table tbody td th thead tr ul'.split(
      ' ',
    ),
  ALLOWED_ATTR: ['href', 'title', 'alt', 'src', 'align', 'start'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|data:image\/(?:png|jpeg|gif|webp);base64,)/i,
  RETURN_DOM_FRAGMENT: true,
} as const;

purify.addHook('afterSanitizeAttributes', (node) => {
  if (node.nodeName === 'A') {
    node.setAttribute('target', '_blank');
    node.setAttribute('rel', 'noopener noreferrer nofollow');
  }
});

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');

export function Markdown({ text }: { readonly text: string }): ReactElement {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    place.current?.replaceChildren(markdownNodes(text)); // (M1)
  }, [text]);
  return <div ref={place} className="markdown" dir="auto" />;
}

export function markdownNodes(text: string): Node {
  if (text.length > charactersMax) return document.createTextNode(text);
  const html = marked.parse(text, { async: false });
  const nodes = purify.sanitize(html, {
    ...allowed,
    ALLOWED_TAGS: [...allowed.ALLOWED_TAGS],
    ALLOWED_ATTR: [...allowed.ALLOWED_ATTR],
  });
  for (const picture of nodes.querySelectorAll('img'))
    if (!picture.src.startsWith('data:')) picture.replaceWith(linkTo(picture));
  return nodes;
}

/** (M3) The nodes belong to the inert document that they were parsed in: nothing was requested yet. */
function linkTo(picture: HTMLImageElement): HTMLElement {
  const link = document.createElement('a');
  link.href = picture.src;
  link.target = '_blank';
  link.rel = 'noopener noreferrer nofollow';
  link.textContent = `picture: ${picture.alt === '' ? picture.src : picture.alt}`;
  return link;
}
