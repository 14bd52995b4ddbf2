import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { POLL_LIMIT_MS } from './tests/support/limits.mjs';

/** A worker ends when the next file is of another project, and a new one loads all modules again. So projects follow each other. */
const PROJECTS = ['product', 'replacing', 'unit'];

/** The files that take longest. They start first. Files that use the CPU alternate with files that mostly wait. */
const LONG_FILES = [
  ...['e2e/dashboard', 'clients/python', 'e2e/administration', 'e2e/lifecycle', 'e2e/desk', 'delivery/outages'],
  ...['delivery/embedded-engine', 'lab/slice', 'e2e/demo', 'e2e/session-page', 'rest/fuzz'],
  ...['delivery/engine-contract', 'delivery/embedded-postgres', 'delivery/soak'],
  ...['e2e/three-servers', 'rest/contract', 'delivery/cancelled-statements', 'rest/generated-clients'],
  ...['clients/mcp', 'clients/typescript', 'clients/python-webhooks'],
  ...['e2e/pixel-browsers', 'delivery/postgres-crash', 'docs/quickstart', 'delivery/server-crash', 'e2e/pixel'],
  ...['e2e/admin', 'delivery/clock-steps', 'e2e/browser-session', 'delivery/delivery'],
  ...['delivery/operation', 'e2e/regions', 'rest/round-trips'],
  ...['rest/staff-sign-in', 'rest/pipeline-orders', 'delivery/changed-subscriptions', 'docs/operating', 'docs/readme'],
];

class ProjectsInTurn extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = LONG_FILES.findIndex((name) => moduleId.endsWith(`/tests/${name}.test.ts`));
      return index < 0 ? LONG_FILES.length : index;
    };
    const turn = ({ project }: TestSpecification) => PROJECTS.indexOf(project.name);
    return (await super.sort(specifications)).sort((a, b) => turn(a) - turn(b) || rank(a) - rank(b));
  }
}

/** Files that mock modules. Each needs its own process; the others share the modules that a worker has loaded. */
const mockingFiles = readdirSync('tests', { recursive: true, encoding: 'utf8' })
  .map((name) => join('tests', name))
  .filter((path) => path.endsWith('.test.ts') && readFileSync(path, 'utf8').includes('vi.mock('));

export default defineConfig({
  test: {
    pool: 'forks',
    // More workers than cores, because many files mostly wait.
    maxWorkers: 4,
    sequence: { sequencer: ProjectsInTurn },
    // A machine that others use may be four times slower. Polls and tests end as soon as they can, so only failures take the whole
    // timeout. A file sets another one only where the time is what it tests.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: POLL_LIMIT_MS } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['tests/unit/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...mockingFiles],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'product',
          include: ['tests/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...mockingFiles, 'tests/unit/**'],
          isolate: false,
          globalSetup: ['tests/support/postgres.ts'],
        },
      },
      { extends: true, test: { name: 'replacing', include: mockingFiles, globalSetup: ['tests/support/postgres.ts'] } },
    ],
  },
});
