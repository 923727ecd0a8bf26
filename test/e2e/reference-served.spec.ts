// The pages of the reference as a browser and as a program get them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { System } from './conversation.ts';
import { endSystems, startSystem } from './system.ts';

let at: System;
beforeAll(async () => {
  at = await startSystem();
});
afterAll(endSystems);

const browser = { key: null, headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } };
const openly = (path: string, sent: object = browser) => at.request('GET', path, undefined, sent);

describe('the reference', () => {
  it.each(['/docs', '/docs/', '/docs/threads', '/docs/tool-servers', '/docs/events', '/docs/schemas'])(
    'is a page at %s that loads nothing from elsewhere',
    async (path) => {
      const page = await openly(path);
      expect(page.status).toBe(200);
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const policy = page.headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/^default-src 'none'; style-src 'self'; object-src 'none'; frame-ancestors 'none'/);
      expect(policy).not.toContain('unsafe');
      expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    },
  );

  it('has its style, and nothing at other paths', async () => {
    expect((await openly('/docs/style.css')).headers.get('content-type')).toContain('text/css');
    const missing = await openly('/docs/nowhere');
    expect([missing.status, missing.json.code]).toEqual([404, 'NOT_FOUND']);
  });
});

describe('the page of a code', () => {
  it('is HTML for a browser and text for a program', async () => {
    const page = await openly('/errors/QUEUE_FULL');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.text).toContain('<h1>QUEUE_FULL</h1>');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const text = await openly('/errors/QUEUE_FULL', { key: null });
    expect(text.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(text.headers.get('vary')).toBe('Origin, Accept');
  });
});
