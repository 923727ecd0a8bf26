import { defineConfig } from 'vitest/config';
import everything from './vitest.config.ts';

// Specs that take minutes by their nature, for `npm run test:all` alone. One at a time: they measure, and make rules
// fire that watch the processor's time.
export default defineConfig({
  ...everything,
  test: {
    ...everything.test,
    projects: undefined,
    include: ['test/long/**/*.spec.ts'],
    fileParallelism: false,
    testTimeout: 1_500_000,
    hookTimeout: 600_000,
  },
});
