import { writeFileSync } from 'node:fs';

/**
 * Writes what became of each test, and of each hook that failed, to the file that TEST_REPORT names: `files` with lists of
 * `{ name, state, why }`, and `errors`, those outside of any test. `state` is `passed`, `failed`, `skipped`, or `pending` if the worker
 * ended before the test. A file that did not load is one hook that failed. Vitest's report in JSON leaves out hooks of a `describe`.
 */
export default class Reporter {
  /** Says at once why something failed. Vitest says so when all files have ended, which a run that hangs never does. */
  onTestModuleEnd(module) {
    const { tests, hooks } = listResults(module);
    for (const { name, state, why } of [...tests, ...hooks])
      if (state === 'failed') process.stdout.write(`✗ ${name}: ${why}\n`);
  }

  onTestRunEnd(modules, errors) {
    const files = modules.map((module) => ({ path: module.relativeModuleId, ...listResults(module) }));
    writeFileSync(process.env.TEST_REPORT, JSON.stringify({ files, errors: errors.map(describeError) }));
  }
}

function listResults(module) {
  // A module has no name of that kind.
  const nameOf = ({ fullName }) => [module.relativeModuleId, fullName].filter(Boolean).join(' > ');
  const tests = [...module.children.allTests()].map((test) => {
    const { state, errors } = test.result();
    return { name: nameOf(test), state, why: describeError(errors?.[0]) };
  });
  const hooks = [module, ...module.children.allSuites()].flatMap((suite) =>
    suite.errors().map((error) => ({ name: nameOf(suite), state: 'failed', why: describeError(error) })),
  );
  return { tests, hooks };
}

/** Says what went wrong, and where in our own files. */
function describeError(error) {
  if (error === undefined) return null;
  const frames = (error.stacks ?? []).filter(({ file }) => !file.includes('node_modules')).slice(0, 3);
  return [error.message, ...frames.map(({ file, line }) => `    at ${file}:${line}`)].join('\n');
}
