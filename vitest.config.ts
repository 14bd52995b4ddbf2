import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['tests/**/*.test.ts'],
    globalSetup: ['tests/support/postgres.ts'],
    // Files run side by side, each with a database of its own; two at a time, so that bounded waits hold on two cores.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A wait ends with what it waits for; only a failure takes all of it.
    expect: { poll: { timeout: 15_000 } },
  },
});
