import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { patienceMs, specPatienceMs } from './test/patience.ts';

// Specs run against the sources of every package (the `dormouse-source` export condition): no build is needed first.
const conditions = ['dormouse-source', 'module', 'node', 'import', 'default'];
const notOurs = ['**/node_modules/**', '**/dist/**', 'bench/peers/**'];
/**
 * Specs with servers, processes or a replaced module, the one that shows an error of V8, which stays in its process, and
 * the one that measures its heap, where another's garbage would count: each file has a worker of its own.
 */
const alone = [
  'libs/tool-server/**/*.spec.ts',
  'libs/json/src/read.spec.ts',
  'libs/runtime/src/thread-processor/waiting-memory.spec.ts',
];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  oxc: { decorator: { legacy: true } },
  test: {
    // Most specs of test/ wait for a process, a server or a clock: one worker more than the machine has cores.
    maxWorkers: availableParallelism() + 1,
    testTimeout: specPatienceMs,
    hookTimeout: specPatienceMs,
    expect: { poll: { timeout: patienceMs } },
    projects: [
      {
        // Pure specs share workers and modules: half of their time would be loading the same packages again.
        extends: true,
        test: {
          name: 'packages',
          include: ['libs/**/*.spec.ts', 'apps/**/*.spec.ts'],
          exclude: [...notOurs, ...alone],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'tests',
          include: ['test/**/*.spec.ts', ...alone],
          exclude: [
            ...notOurs,
            'test/{cluster,chaos,console,long,site}/**',
            'test/deploy/{kube,image}/**',
            'test/traces/phoenix.spec.ts',
            'test/failover/failover.spec.ts',
            'test/fuzz/mutants.spec.ts',
            'test/upgrades/{cluster,rolling}.spec.ts',
          ],
        },
      },
    ],
  },
});
