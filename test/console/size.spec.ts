// What a browser loads before the first screen, as it is sent: the page, and what it names.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';

const dist = fileURLToPath(new URL('../../apps/console/dist', import.meta.url));
const firstLoadBytesMax = 180_000;
const read = (path: string): Buffer => readFileSync(join(dist, path));

/** Files that the page loads by itself, and what these import at once. */
function firstLoad(): readonly string[] {
  const html = read('index.html').toString();
  const named = [...html.matchAll(/(?:src|href)="\/([^"]+)"/g)].map(([, path = '']) => path);
  const seen = new Set<string>();
  for (const queue = [...named]; queue.length > 0;) {
    const path = queue.pop() ?? '';
    if (seen.has(path)) continue;
    seen.add(path);
    if (!path.endsWith('.js')) continue;
    const imports = read(path)
      .toString()
      .matchAll(/\b(?:from|import)\s?["']\.\/([^"']+)["']/g);
    queue.push(...[...imports].map(([, file = '']) => `assets/${file}`));
  }
  return [...seen];
}

describe('the build of the console', () => {
  it('loads at most 180 kB of gzip before the first screen', () => {
    const sizes = firstLoad().map((path) => ({ path, bytes: gzipSync(read(path)).length }));
    const total = sizes.reduce((sum, { bytes }) => sum + bytes, gzipSync(read('index.html')).length);
    console.info(`first load: ${(total / 1_000).toFixed(1)} kB`);
    expect(total, JSON.stringify(sizes)).toBeLessThanOrEqual(firstLoadBytesMax);
    expect(sizes.length).toBeGreaterThan(2);
  });

  it('has no inline script or style, and names no other origin', () => {
    const html = read('index.html').toString();
    expect(html).not.toMatch(/<style|style=|\son\w+=/i);
    expect(
      [...html.matchAll(/<script\b([^>]*)>([^<]*)/g)].every(
        ([, attributes = '', body = '']) => attributes.includes('src=') && body.trim() === '',
      ),
    ).toBe(true);
    expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
    const css = readdirSync(join(dist, 'assets')).filter((name) => name.endsWith('.css'));
    for (const name of css) expect(read(`assets/${name}`).toString()).not.toMatch(/url\((?!["']?data:)|@import/);
    expect(existsSync(join(dist, 'favicon.svg'))).toBe(true);
  });
});
