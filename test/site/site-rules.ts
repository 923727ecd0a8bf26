// What holds for every file of the built site. Pure functions over texts, by address: `/docs/rap.html`.
//
// S1  Nothing is loaded from another host: no element of a page and no style names one, and a page's policy forbids it.
// S2  A link within the site leads to a file of it, and its anchor to an element of that page.
import type { Violation } from '../docs/document.ts';

/** Elements that load by themselves what they name. */
const loading = /<(?:script|link|img|iframe|source|video|audio|object|embed)\b[^>]*?\s(?:src|href|data)="([^"]*)"/g;
const isForeign = (target: string): boolean => /^(?:[a-z][a-z+.-]*:)?\/\//i.test(target);

export function foreignResources(address: string, text: string): Violation[] {
  if (address.endsWith('.css'))
    return [...text.matchAll(/(?:url\(|@import\s+)["']?([^"')\s;]+)/g)]
      .filter(([, target = '']) => isForeign(target))
      .map(([, target = '']) => `${address} loads ${target} (S1)`);
  if (!address.endsWith('.html')) return [];
  const loaded = [...text.matchAll(loading)].map(([, target = '']) => target).filter(isForeign);
  const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(text)?.[1] ?? '';
  const allows = policy.includes('default-src') && !/https?:|\*/.test(policy);
  return [
    ...loaded.map((target) => `${address} loads ${target} (S1)`),
    ...(allows ? [] : [`${address} has no policy that forbids other hosts (S1)`]),
  ];
}

export interface Site {
  readonly has: (address: string) => boolean;
  /** The text of a page. */
  readonly read: (address: string) => string;
}

export function brokenTargets(address: string, site: Site): Violation[] {
  const targets = [...site.read(address).matchAll(/<a\b[^>]*?\shref="([^"]*)"/g)].map(([, target = '']) => target);
  return [...new Set(targets)].flatMap((target) => {
    const url = new URL(target.replaceAll('&amp;', '&'), `http://site${address}`);
    if (url.host !== 'site') return [];
    const led = url.pathname.endsWith('/') ? `${url.pathname}index.html` : decodeURI(url.pathname);
    if (!site.has(led)) return [`${address} links to ${target}: there is no such file (S2)`];
    if (url.hash === '' || !led.endsWith('.html')) return [];
    const id = decodeURIComponent(url.hash.slice(1));
    return site.read(led).includes(`id="${id}"`) ? [] : [`${address} links to ${target}: no such anchor (S2)`];
  });
}
