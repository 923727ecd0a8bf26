import { defineConfig } from 'vitest/config';
import { patienceMs, specPatienceMs } from './test/patience.ts';

// Specs run against the sources of every package (the `dormouse-source` export condition): no build is needed first.
const conditions = ['dormouse-source', 'module', 'node', 'import', 'default'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  oxc: { decorator: { legacy: true } },
  test: {
    include: ['libs/**/*.spec.ts', 'apps/**/*.spec.ts', 'test/**/*.spec.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', 'bench/peers/**', 'test/cluster/**', 'test/chaos/**'],
    testTimeout: specPatienceMs,
    hookTimeout: specPatienceMs,
    expect: { poll: { timeout: patienceMs } },
  },
});
