import { defineConfig } from 'vitest/config';
import everything from './vitest.config.ts';

// Specs that take minutes by their nature, for `npm run test:all` alone (those of test/upgrades for `npm run test:upgrades` too). One at a time: they measure, and make rules
// fire that watch the processor's time.
export default defineConfig({
  ...everything,
  test: {
    ...everything.test,
    projects: undefined,
    include: [
      'test/long/**/*.spec.ts',
      'test/failover/failover.spec.ts',
      'test/upgrades/rolling.spec.ts',
      'test/fuzz/mutants.spec.ts',
    ],
    fileParallelism: false,
    testTimeout: 1_500_000,
    hookTimeout: 600_000,
  },
});
