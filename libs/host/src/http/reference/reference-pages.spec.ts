import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../../api/openapi.ts';
import { allOperations } from '../../api/operations.ts';
import { isProblemCode } from '../problems/problem-codes.ts';
import { html, line, pageText, prose } from './html.ts';
import { type ReferenceDocument, referencePages } from './reference-pages.ts';

const document = JSON.parse(JSON.stringify(openApiDocument('1.2.3'))) as ReferenceDocument;
const pages = new Map([...referencePages(document)].map(([path, page]) => [path, pageText(page)]));

/** Links of these pages that lead nowhere. */
function brokenLinks(texts: ReadonlyMap<string, string>): readonly string[] {
  return [...texts].flatMap(([from, text]) =>
    [...text.matchAll(/href="([^"]*)"/g)].flatMap(([, href = '']) => {
      if (['/openapi.json', '/docs/style.css'].includes(href)) return [];
      const [path = '', anchor] = href.split('#');
      const code = /^\/errors\/(.*)$/.exec(path)?.[1];
      if (code !== undefined) return isProblemCode(code) ? [] : [`${from}: ${href}`];
      const target = path === '' ? text : texts.get(path);
      const isThere = target !== undefined && (anchor === undefined || target.includes(`id="${anchor}"`));
      return isThere ? [] : [`${from}: ${href}`];
    }),
  );
}

describe('the reference', () => {
  it('has every operation, schema and event once', () => {
    const all = [...pages.values()].join('\n');
    for (const { id } of allOperations) expect(all.split(`<section id="${id}"`)).toHaveLength(2);
    for (const name of Object.keys(document.components.schemas))
      expect(all.split(`<section id="${name}"`)).toHaveLength(2);
    expect(pages.get('/docs/events')).toMatch(/>\s*message_accepted\s*<\/h2>/);
    expect(pages.get('/docs/events')).toContain('&quot;type&quot;: &quot;message_accepted&quot;');
  });

  it('leads everywhere that its links name', () => {
    expect(brokenLinks(pages)).toEqual([]);
    expect(brokenLinks(new Map([['/docs', '<a href="/docs/nowhere#x">']]))).toEqual(['/docs: /docs/nowhere#x']);
  });

  it('has no script, no style of its own, and nothing from elsewhere', () => {
    for (const text of pages.values()) {
      expect(text).not.toMatch(/<script|<style|style=|\son\w+=|<img|<iframe|javascript:/);
      expect([...text.matchAll(/(?:href|src)="([^"]*)"/g)].filter(([, to = '']) => !/^[/#]/.test(to))).toEqual([]);
    }
  });
});

describe('HTML', () => {
  const hostile = '<img src=x onerror="alert(1)">&\'';

  it('escapes what it is given', () => {
    expect(html`<p title="${hostile}">${hostile}</p>`.html).not.toMatch(/<img|"alert|='|'</);
    expect(prose(`- ${hostile}\n- **${hostile}**`).html).not.toContain('<img');
    expect(prose(`# \`${hostile}\``).html).not.toContain('<img');
  });

  it('links to pages of this server only', () => {
    expect(line('[a](/docs)').html).toBe('<a href="/docs">a</a>');
    for (const to of ['https://elsewhere.example', 'javascript:alert(1)', 'docs'])
      expect(line(`[a](${to})`).html).not.toContain('<a');
  });

  it('knows code, lists and headings', () => {
    expect(prose('# A\n\nb `c` d\n\n- e\n- f').html).toBe(
      '<h1>A</h1>\n<p>b <code>c</code> d</p>\n<ul><li>e</li><li>f</li></ul>',
    );
  });
});
