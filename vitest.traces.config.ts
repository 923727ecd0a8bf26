import { defineConfig } from 'vitest/config';
import everything from './vitest.config.ts';

// What a backend of strangers shows of our traces: opt-in, `npm run test:traces`.
export default defineConfig({
  ...everything,
  test: { ...everything.test, projects: undefined, include: ['test/traces/phoenix.spec.ts'] },
});
