// The test command (`npm test`): formatting and lint, the build, types, the audit of dependencies, then every test. Ends with the one line
// `N passed, N failed`. Arguments are handed to vitest: `npm test -- tests/unit`.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { auditDependencies } from './dependency-audit.mjs';
import { obtainChromium } from './support/browser.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const E2E = join(ROOT, 'tests', 'e2e');
const CHECK_LIMIT_MS = 5 * 60_000;
const TESTS_LIMIT_MS = 40 * 60_000;

const modules = (...path) => join(ROOT, 'node_modules', ...path);
const CHECKS = {
  'formatting and lint': [modules('@biomejs', 'biome', 'bin', 'biome'), 'check', '.'],
  build: [join(ROOT, 'server', 'start.mjs'), 'build'],
  // After the build, which writes the types of the routes.
  types: [modules('typescript', 'bin', 'tsc'), '--noEmit', '-p', '.'],
};

const args = process.argv.slice(2);
const counts = { passed: 0, failed: 0, skipped: 0 };
const skipped = [];
/** What passed only when it was tried again, and why not at first. */
const unsteady = [];
const say = (line) => process.stdout.write(`${line}\n`);

/** The running step. It leads a process group of its own, so that one that hangs is ended with all it started. */
let running = null;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    if (running) endGroup(running, 'SIGTERM');
    process.exit(1);
  });
}

function endGroup(child, signal) {
  try {
    process.kill(process.platform === 'win32' ? child.pid : -child.pid, signal);
  } catch {} // it has just ended
}

/** Runs a script of Node to its end; answers what went wrong, or null. */
function runNode(scriptAndArgs, limitMs, env = {}) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, scriptAndArgs, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      detached: process.platform !== 'win32',
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    running = child;
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      endGroup(child, 'SIGKILL');
    }, limitMs);
    const end = (fault) => {
      clearTimeout(timer);
      running = null;
      resolve(isLate ? `not over after ${limitMs / 60_000} minutes` : fault);
    };
    child.once('error', (error) => end(error.message));
    child.once('exit', (code, signal) => end(code === 0 ? null : signal ? `ended by ${signal}` : `exit code ${code}`));
  });
}

async function runCheck(name, command) {
  say(`\n— ${name}`);
  const fault = await runNode(command, CHECK_LIMIT_MS);
  counts[fault ? 'failed' : 'passed']++;
  say(fault ? `✗ ${name}: ${fault}` : `✓ ${name}`);
}

/** A registry that audits nothing is no fault of ours: the step is then among the skipped ones, and says so. */
async function runAudit() {
  const name = 'audit of dependencies';
  say(`\n— ${name}`);
  const { outcome, why } = await auditDependencies(ROOT);
  if (outcome === 'skipped') {
    skipped.push(`${name}: ${why}`);
    return say(`- ${name}: skipped, ${why}`);
  }
  counts[outcome === 'clean' ? 'passed' : 'failed']++;
  say(outcome === 'clean' ? `✓ ${name}` : `✗ ${name}: ${why}`);
}

async function runTests(chromiumPath) {
  say('\n— tests');
  const directory = await mkdtemp(join(tmpdir(), 'test-report-'));
  const report = join(directory, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  // Five thousand tests of real time on a machine that others use: one late answer is not a fault. It is told all the same.
  const tries = process.env.CI ? ['--retry=1'] : [];
  const command = [modules('vitest', 'vitest.mjs'), 'run', ...reporters, ...tries, ...args];
  const fault = await runNode(command, TESTS_LIMIT_MS, chromiumPath ? { CHROMIUM_PATH: chromiumPath } : {});
  const text = await readFile(report, 'utf8').catch(() => null);
  await rm(directory, { recursive: true, force: true });
  const before = counts.failed;
  const counted = text === null ? 0 : countReport(JSON.parse(text));
  if (counted === 0) say('✗ tests: no test was counted');
  // What no test reports: a crash, an error outside of any test, a run without tests.
  if (counts.failed === before && (fault || counted === 0)) counts.failed++;
  if (fault) say(`✗ tests: ${fault}`);
}

/** Adds vitest's JSON report to the counts. A file that failed without a failed test (it did not load) counts as one. */
function countReport({ testResults }) {
  let counted = 0;
  for (const file of testResults) {
    const statuses = file.assertionResults.map(({ status }) => status);
    for (const { status, ancestorTitles, title, failureMessages } of file.assertionResults) {
      const name = [relative(ROOT, file.name), ...ancestorTitles, title].join(' › ');
      if (status === 'passed' && failureMessages.length > 0)
        unsteady.push(`${name}: ${failureMessages[0].split('\n    at file:')[0]}`);
      if (status !== 'passed' && status !== 'failed') skipped.push(name);
    }
    for (const status of statuses) counts[status === 'passed' || status === 'failed' ? status : 'skipped']++;
    counted += statuses.length;
    if (file.status !== 'failed' || statuses.includes('failed')) continue;
    counts.failed++;
    say(`✗ ${file.name}: ${file.message}`);
  }
  return counted;
}

/** Paths given as arguments may leave the end-to-end tests out; then no browser is needed. */
function needsBrowser() {
  const paths = args.filter((arg) => !arg.startsWith('-')).map((arg) => resolve(ROOT, arg));
  if (paths.length === 0 || !paths.every((path) => existsSync(path))) return true;
  return paths.some((path) => path.startsWith(E2E) || E2E.startsWith(path));
}

const chromiumPath = needsBrowser() ? await obtainChromium(say) : null;
for (const [name, command] of Object.entries(CHECKS)) await runCheck(name, command);
await runAudit();
await runTests(chromiumPath);
if (unsteady.length > 0) say(`\n— passed at the second try only\n${unsteady.join('\n')}`);
if (skipped.length > 0) say(`\n— skipped\n${skipped.join('\n')}`);
say('');
const line = `${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''}`;
process.stdout.write(`${line}\n`, () => process.exit(counts.failed > 0 ? 1 : 0));
