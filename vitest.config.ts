import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // By `npm run test:real`, which fetches the programs.
    exclude: ['test/real/**'],
    globalSetup: ['test/setup/build.ts'],
    setupFiles: ['test/setup/leaks.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    pool: 'forks',
  },
});
