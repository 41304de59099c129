import { defineConfig } from 'vitest/config';

/** Stock agent programs, by `npm run test:real`. */
export default defineConfig({
  test: {
    include: ['test/real/**/*.test.ts'],
    globalSetup: ['test/setup/build.ts'],
    setupFiles: ['test/setup/leaks.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // What follows a failure in its suite would only wait, for minutes each.
    bail: 1,
    reporters: ['verbose'],
  },
});
