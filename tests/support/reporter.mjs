import { writeFileSync } from 'node:fs';

/**
 * Writes what became of each test, and of each hook that failed, to the file that TEST_REPORT names: lists of `{ name, state, why }`.
 * `state` is `passed`, `failed`, `skipped`, or `pending` if the worker ended before the test. `why` says what went wrong. A file
 * that did not load is one hook that failed. Vitest's report in JSON leaves out hooks of a `describe`.
 */
export default class Reporter {
  onTestRunEnd(modules) {
    const tests = [];
    const hooks = [];
    for (const module of modules) {
      // A module has no name of that kind.
      const nameOf = ({ fullName }) => [module.relativeModuleId, fullName].filter(Boolean).join(' > ');
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        tests.push({ name: nameOf(test), state, why: describeError(errors?.[0]) });
      }
      for (const suite of [module, ...module.children.allSuites()])
        for (const error of suite.errors())
          hooks.push({ name: nameOf(suite), state: 'failed', why: describeError(error) });
    }
    writeFileSync(process.env.TEST_REPORT, JSON.stringify({ tests, hooks }));
  }
}

/** Says what went wrong, and where in our own files. */
function describeError(error) {
  if (error === undefined) return null;
  const frames = (error.stacks ?? []).filter(({ file }) => !file.includes('node_modules')).slice(0, 3);
  return [error.message, ...frames.map(({ file, line }) => `    at ${file}:${line}`)].join('\n');
}
