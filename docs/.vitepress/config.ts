// The documents of the repository as a site: `npm run docs`.
//
// Invariants:
//   S1. A page loads nothing from another host: its policy forbids it, and a test looks at every built file.
//   S2. The search is in the site: an index that the browser reads.
import { defineConfig } from 'vitepress';
import { createPageLinks, slugOf } from './page-links.ts';
import { addressOf, excludedPages, rewritten, sidebarOf, sitePages } from './site-pages.ts';

const pages = sitePages();
const links = createPageLinks(pages);

/** (S1) The theme's own first lines are inline scripts and styles. */
const policy = [
  "default-src 'none'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

export default defineConfig({
  title: 'Dormouse',
  description: 'An event-sourced runtime for AI agents that sleep until something happens',
  lang: 'en',
  srcDir: '..',
  srcExclude: excludedPages,
  rewrites: rewritten,
  cacheDir: '../.cache/vitepress',
  head: [
    ['meta', { 'http-equiv': 'Content-Security-Policy', content: policy }],
    ['link', { rel: 'icon', href: 'data:,' }],
  ],
  // Pages have no expressions: templates of messages, such as {{/name}}, are text.
  vue: { template: { compilerOptions: { delimiters: ['{%', '%}'] } } },
  markdown: {
    anchor: { slugify: slugOf },
    config: (md) => {
      md.core.ruler.push('page_links', ({ tokens, env }) => {
        for (const token of tokens) if (token.info === 'promql') token.info = 'txt'; // no grammar of it is bundled
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const target = token.type === 'link_open' ? token.attrGet('href') : null;
          if (target !== null && token.attrGet('class') !== 'header-anchor')
            token.attrSet('href', links.targetOf((env as { readonly relativePath: string }).relativePath, target));
        }
      });
    },
  },
  buildEnd: ({ outDir }) => links.writeCopies(outDir),
  themeConfig: {
    search: { provider: 'local' }, // (S2)
    nav: [
      { text: 'Start', link: addressOf('docs/README.md') },
      { text: 'Reference', link: addressOf('docs/reference/settings.md') },
      { text: 'Contribute', link: addressOf('CONTRIBUTING.md') },
    ],
    sidebar: sidebarOf(pages),
    outline: [2, 3],
    docFooter: { prev: false, next: false },
  },
});
