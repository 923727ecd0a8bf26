// How the console is built: static files without an inline script or style, the routes in chunks.
// `vite dev apps/console` serves it from source and passes the API on to a running standalone with its development key.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const here = fileURLToPath(new URL('.', import.meta.url));
const keyFile = fileURLToPath(new URL('../../.dormouse/key', import.meta.url));
const target = 'http://127.0.0.1:7420';

export default defineConfig(({ command }) => ({
  root: here,
  plugins: [react()],
  resolve: { conditions: ['dormouse-source', 'module', 'browser', 'import', 'default'] },
  build: {
    outDir: `${here}dist`,
    emptyOutDir: true,
    target: ['chrome125', 'firefox128', 'safari18'],
    assetsInlineLimit: 0, // a data: URL would need an exception in the content security policy
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  ...(command === 'serve' ? { server: { proxy: proxied(['/v1', '/openapi.json', '/healthz', '/errors']) } } : {}),
}));

function proxied(paths: readonly string[]): Record<string, { target: string; headers: Record<string, string> }> {
  const headers: Record<string, string> = existsSync(keyFile)
    ? { authorization: `Bearer ${readFileSync(keyFile, 'utf8').trim()}` }
    : {};
  return Object.fromEntries(paths.map((path) => [path, { target, headers }]));
}
