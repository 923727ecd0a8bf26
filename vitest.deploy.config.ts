import { defineConfig } from 'vitest/config';
import everything from './vitest.config.ts';

// Everything about image and chart, with what takes minutes: programs that are built from Go modules, an API server of
// Kubernetes, an image that is built and run. For `npm run test:deploy` alone; one file at a time.
export default defineConfig({
  ...everything,
  test: {
    ...everything.test,
    projects: undefined,
    include: ['test/deploy/**/*.spec.ts'],
    fileParallelism: false,
    provide: { buildsPrograms: true },
    testTimeout: 1_200_000,
    hookTimeout: 10_800_000,
  },
});
