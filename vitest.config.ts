import { availableParallelism } from 'node:os';
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
    // Most specs wait for a process, a server or a clock: one worker more than the machine has cores.
    maxWorkers: availableParallelism() + 1,
    testTimeout: specPatienceMs,
    hookTimeout: specPatienceMs,
    expect: { poll: { timeout: patienceMs } },
  },
});
