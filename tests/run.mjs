// The test command (`npm test`): formatting and lint, the build and the audit of dependencies at the same time, then
// types and every test. Its last line is `N passed, N failed`, with `, N skipped` if anything was skipped. It passes arguments to
// vitest: `npm test -- tests/unit`.
// With `--quick` it runs what needs no build: formatting and lint, types, and the tests of `unit` and `domain`.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { constants, setPriority, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { auditDependencies } from './dependency-audit.mjs';
import { obtainChromium } from './support/browser.mjs';
import { OLDEST_NODE } from './support/oldest-node.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const E2E = join(ROOT, 'tests', 'e2e');
const CHECK_LIMIT_MS = 20 * 60_000;
const TESTS_LIMIT_MS = 75 * 60_000;
/** If more files failed, something is broken. */
const MAX_FILES_TRIED_AGAIN = 5;
/** A file system in memory. The tests create and remove thousands of files of databases. */
const MEMORY = '/dev/shm';
const MEMORY_BYTES = 4 * 2 ** 30;

const modules = (...path) => join(ROOT, 'node_modules', ...path);
const LINT = [modules('@biomejs', 'biome', 'bin', 'biome'), 'check', '.'];
const BUILD = [join(ROOT, 'server', 'start.mjs'), 'build'];
/** Generates the types of the routes, as the build does too. */
const TYPEGEN = [modules('next', 'dist', 'bin', 'next'), 'typegen'];
/** One checker, because each works out again the types that the others have: two take half as much CPU time again, which the tests need. */
const TYPES = [modules('typescript', 'bin', 'tsc'), '--noEmit', '-p', '.', '--checkers', '1'];

const isQuick = process.argv.includes('--quick');
const args = isQuick ? ['tests/unit/', 'tests/domain/'] : process.argv.slice(2);
const counts = { passed: 0, failed: 0, skipped: 0 };
const skipped = [];
/** What failed, and why. */
const failures = [];
/** What failed at the first of two tries, and why. */
const unsteady = [];
const say = (line) => process.stdout.write(`${line}\n`);

/**
 * The running steps. Each leads its own process group, so that a step that hangs is ended with everything it started.
 */
const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    for (const child of running) endGroup(child, 'SIGTERM');
    process.exit(1);
  });
}

function endGroup(child, signal) {
  try {
    process.kill(process.platform === 'win32' ? child.pid : -child.pid, signal);
  } catch {} // it has just ended
}

/**
 * Runs a script of Node to its end. Answers what went wrong, or null. Its output goes to `onOutput`, if given. If it is patient, others
 * get the CPU first.
 */
function runNode(scriptAndArgs, limitMs, { env = {}, onOutput, isPatient = false } = {}) {
  return new Promise((resolve) => {
    const output = onOutput ? 'pipe' : 'inherit';
    const child = spawn(process.execPath, scriptAndArgs, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      detached: process.platform !== 'win32',
      stdio: ['ignore', output, output],
    });
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', onOutput);
    running.add(child);
    if (isPatient && child.pid) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      endGroup(child, 'SIGKILL');
    }, limitMs);
    const end = (fault) => {
      clearTimeout(timer);
      running.delete(child);
      resolve(isLate ? `not over after ${limitMs / 60_000} minutes` : fault);
    };
    child.once('error', (error) => end(error.message));
    child.once('close', (code, signal) => end(code === 0 ? null : signal ? `ended by ${signal}` : `exit code ${code}`));
  });
}

/** Runs the commands of a check one after the other, and prints their output in one piece when they have ended. */
async function runCheck(name, commands, env = {}) {
  let printed = '';
  let fault = null;
  const onOutput = (text) => {
    printed += text;
  };
  for (const command of commands) fault ??= await runNode(command, CHECK_LIMIT_MS, { env, onOutput, isPatient: true });
  counts[fault ? 'failed' : 'passed']++;
  say(`\n— ${name}\n${printed}${fault ? `✗ ${name}: ${fault}` : `✓ ${name}`}`);
}

/**
 * If the registry offers no audit, that is not a fault of this project. The step then counts as skipped and says why.
 */
async function runAudit() {
  const name = 'audit of dependencies';
  const { outcome, why } = await auditDependencies(ROOT);
  say(`\n— ${name}`);
  if (outcome === 'skipped') {
    skipped.push(`${name}: ${why}`);
    return say(`- ${name}: skipped, ${why}`);
  }
  counts[outcome === 'clean' ? 'passed' : 'failed']++;
  say(outcome === 'clean' ? `✓ ${name}` : `✗ ${name}: ${why}`);
}

/** Makes a directory in memory for the temporary files of the tests. Null if there is no room, or if nothing may run there. */
function makeScratch() {
  if (process.env.TMPDIR || !existsSync(MEMORY)) return null;
  const { bavail, bsize } = statfsSync(MEMORY);
  if (bavail * bsize < MEMORY_BYTES) return null;
  const directory = mkdtempSync(join(MEMORY, 'bot-detection-'));
  // The embedded Postgres may run as another user.
  chmodSync(directory, 0o755);
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  const probe = join(directory, 'probe');
  writeFileSync(probe, '#!/bin/sh\n', { mode: 0o755 });
  return spawnSync(probe).status === 0 ? directory : null;
}

async function runTests(chromiumPath) {
  say('\n— tests');
  const scratch = makeScratch();
  const env = { ...(chromiumPath ? { CHROMIUM_PATH: chromiumPath } : {}), ...(scratch ? { TMPDIR: scratch } : {}) };
  const { files, errors, fault } = await runFiles(args, env);
  const failed = files.filter(hasFailed).map(({ path }) => path);
  // A machine that others use may be so slow that a rule that names a time does not hold. So a few files that failed get a second try:
  // alone, in new processes, with new databases. It is told all the same.
  const isTriedAgain = Boolean(process.env.CI) && failed.length > 0 && failed.length <= MAX_FILES_TRIED_AGAIN;
  const again = isTriedAgain ? await runFiles(failed, env) : { files: [], errors: [], fault: null };
  const secondTries = new Map(again.files.map((file) => [file.path, file]));
  const before = counts.failed;
  for (const file of files) countResults(file, secondTries.get(file.path));
  for (const error of [...errors, ...again.errors]) {
    counts.failed++;
    failures.push(`outside of any test: ${error}`);
  }
  const last = again.fault ?? (isTriedAgain ? null : fault);
  // Faults that nothing reports: a crash, a run without tests.
  if (counts.failed === before && (last || !files.some(({ tests }) => tests.length > 0))) counts.failed++;
  if (last) say(`✗ tests: ${last}`);
}

/** Runs tests to their end. Answers the report of `support/reporter.mjs`, and what went wrong, or null. */
async function runFiles(paths, env) {
  const directory = await mkdtemp(join(tmpdir(), 'test-report-'));
  const report = join(directory, 'report.json');
  const reporters = ['--reporter=default', `--reporter=${join(ROOT, 'tests', 'support', 'reporter.mjs')}`];
  const command = [modules('vitest', 'vitest.mjs'), 'run', ...reporters, ...paths];
  const fault = await runNode(command, TESTS_LIMIT_MS, { env: { ...env, TEST_REPORT: report } });
  const text = await readFile(report, 'utf8').catch(() => null);
  await rm(directory, { recursive: true, force: true });
  if (text === null) say('✗ tests: there is no report');
  return { ...(text === null ? { files: [], errors: [] } : JSON.parse(text)), fault };
}

const hasFailed = ({ tests, hooks }) => [...tests, ...hooks].some(({ state }) => state === 'failed');

/** Adds the results of a file to the counts. If it was tried again, the second try counts. */
function countResults(file, again) {
  const { tests, hooks } = again ?? file;
  for (const { name, state, why } of [...tests, ...hooks]) {
    counts[state === 'passed' || state === 'failed' ? state : 'skipped']++;
    if (state === 'failed') failures.push(`${name}: ${why}`);
    else if (state !== 'passed') skipped.push(name);
  }
  if (!again) return;
  for (const { name, state, why } of [...file.tests, ...file.hooks])
    if (state === 'failed') unsteady.push(`${name}: ${why}`);
}

/** If the given paths leave out the end-to-end tests, no browser is needed. */
function needsBrowser() {
  const paths = args.filter((arg) => !arg.startsWith('-')).map((arg) => resolve(ROOT, arg));
  if (paths.length === 0 || !paths.every((path) => existsSync(path))) return true;
  return paths.some((path) => path.startsWith(E2E) || E2E.startsWith(path));
}

const lint = () => runCheck('formatting and lint', [LINT]);
if (isQuick) await Promise.all([lint(), runCheck('types', [TYPEGEN, TYPES]), runTests(null)]);
else {
  const chromiumPath = needsBrowser() ? await obtainChromium(say) : null;
  await Promise.all([lint(), runCheck('build', [BUILD], OLDEST_NODE), runAudit()]);
  await Promise.all([runCheck('types', [TYPES]), runTests(chromiumPath)]);
}
if (unsteady.length > 0) say(`\n— failed at the first try\n${unsteady.join('\n')}`);
if (skipped.length > 0) say(`\n— skipped\n${skipped.join('\n')}`);
// Once more, where they are found: they are among thousands of lines, and a log may keep the end only.
if (failures.length > 0) say(`\n— failed\n${failures.join('\n')}`);
say('');
const line = `${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''}`;
process.stdout.write(`${line}\n`, () => process.exit(counts.failed > 0 ? 1 : 0));
