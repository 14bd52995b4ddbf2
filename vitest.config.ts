import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Files run side by side, each with its own database.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A wait ends with what it waits for; only a failure takes all of it.
    expect: { poll: { timeout: 15_000 } },
    projects: [
      { extends: true, test: { name: 'unit', include: ['tests/unit/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'product',
          include: ['tests/**/*.test.ts'],
          exclude: [...configDefaults.exclude, 'tests/unit/**'],
          globalSetup: ['tests/support/postgres.ts'],
        },
      },
    ],
  },
});
