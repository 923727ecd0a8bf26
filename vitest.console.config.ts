import { defineConfig } from 'vitest/config';
import everything from './vitest.config.ts';

// Specs of the console and of the documents' site in a real browser. Two files at a time: one keeps a single core busy,
// and what they measure is counted, in frames and elements, never in milliseconds.
export default defineConfig({
  ...everything,
  test: {
    ...everything.test,
    projects: undefined,
    include: ['test/{console,site}/**/*.spec.ts'],
    maxWorkers: 2,
  },
});
