import { defineConfig } from 'vitest/config';
import everything from './vitest.config.ts';

// Specs of the console and of the documents' site in a real browser. One file at a time: a browser takes all cores, and
// frames are counted.
export default defineConfig({
  ...everything,
  test: {
    ...everything.test,
    projects: undefined,
    include: ['test/{console,site}/**/*.spec.ts'],
    fileParallelism: false,
  },
});
