import { defineConfig } from 'vitest/config';

/** Counts what its whole process holds open: connections that an earlier file kept alive would end meanwhile. */
const ALONE = ['test/e2e/long-run.test.ts'];

export default defineConfig({
  test: {
    globalSetup: ['test/setup/build.ts'],
    setupFiles: ['test/setup/leaks.ts', 'test/setup/seed.ts'],
    // Most tests wait for processes and sockets: a second worker uses what the first leaves idle, on two cores too.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    projects: [
      {
        extends: true,
        test: {
          name: 'skep',
          include: ['test/**/*.test.ts'],
          // The first by `npm run test:real`, which fetches the programs.
          exclude: ['test/real/**', ...ALONE],
          // A worker goes on to its next file with the modules it has: to load them anew for each would take a fifth more.
          // What a file leaves behind fails it (leaks.ts), and a module in test/ keeps no hooks of its own.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE } },
    ],
  },
});
