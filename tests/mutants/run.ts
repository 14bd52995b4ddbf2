import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { chooseMutants, listMutants, type Mutant, writeSwitches } from './mutants';

// Puts small faults into a copy of the sources, one at a time, and reports those that no test notices. All faults are
// written at once, each behind a switch: one run of the tests without any tells which test files reach which fault.

const SOURCES = ['server/rest', 'server/webhooks', 'server/domain', 'server/pipeline'];
/** Tests that run the sources inside their own process. A server in another process has no switches. */
const ALL_TESTS = ['tests/unit', 'tests/domain', 'tests/rest', 'tests/delivery'];
const OTHER_PROCESS = /support\/(product|next-server)'|start\.mjs/;
const RUN_LIMIT_MS = 20 * 60_000;
const MUTANT_LIMIT_MS = 5 * 60_000;
/** The quickest test files first: most faults end there. */
const FIRST_FILES = 3;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '150' },
    seed: { type: 'string', default: '1' },
    out: { type: 'string' },
  },
});

const say = (line: string) => process.stdout.write(`${line}\n`);

/** Copies the project into a directory of the system's temporary ones; what was built and installed is linked. */
function copyProject(): string {
  const directory = mkdtempSync(join(tmpdir(), 'mutants-'));
  const files = spawnSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
    .stdout.trim()
    .split('\n');
  for (const file of files) {
    if (!existsSync(file)) continue;
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    cpSync(file, join(directory, file));
  }
  for (const name of ['node_modules', '.next', 'dist', 'next-env.d.ts']) {
    if (existsSync(name)) symlinkSync(join(process.cwd(), name), join(directory, name));
  }
  return directory;
}

function runVitest(directory: string, args: string[], env: Record<string, string>, limitMs: number): boolean {
  const vitest = join('node_modules', 'vitest', 'vitest.mjs');
  const command = [vitest, 'run', '--config', 'tests/mutants/vitest.config.ts', '--reporter=dot', ...args];
  const result = spawnSync(process.execPath, command, {
    cwd: directory,
    env: { ...process.env, ...env },
    stdio: 'ignore',
    timeout: limitMs,
    killSignal: 'SIGTERM',
  });
  // A run that could not begin says nothing about a fault.
  if (result.error && (result.error as NodeJS.ErrnoException).code !== 'ETIMEDOUT') throw result.error;
  return result.status === 0;
}

/** Lists the test files that run the sources in their own process. */
function listTests(): string[] {
  const paths = positionals.length > 0 ? positionals : ALL_TESTS;
  const files = paths.flatMap((path) =>
    path.endsWith('.ts')
      ? [path]
      : readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => join(path, name)),
  );
  return files.filter((path) => path.endsWith('.test.ts') && !OTHER_PROCESS.test(readFileSync(path, 'utf8')));
}

/** The test files that reach each mutant, the quickest first. */
function findTests(directory: string): Map<number, string[]> {
  const reachedPath = join(directory, 'reached.tsv');
  const reportPath = join(directory, 'report.json');
  writeFileSync(reachedPath, '');
  const report = ['--reporter=json', `--outputFile.json=${reportPath}`];
  runVitest(directory, [...report, ...listTests()], { MUTANTS_REACHED: reachedPath }, RUN_LIMIT_MS);
  const { testResults } = JSON.parse(readFileSync(reportPath, 'utf8')) as {
    testResults: { name: string; status: string; startTime: number; endTime: number }[];
  };
  const failed = testResults.filter(({ status }) => status !== 'passed').map(({ name }) => name);
  if (failed.length > 0) say(`left out, failed without any fault: ${failed.join(', ')}`);
  const durations = new Map(testResults.map(({ name, startTime, endTime }) => [name, endTime - startTime]));
  const found = new Map<number, string[]>();
  for (const line of readFileSync(reachedPath, 'utf8').trim().split('\n')) {
    const [id, path] = line.split('\t');
    if (!path || failed.includes(path)) continue;
    const known = found.get(Number(id)) ?? [];
    if (!known.includes(path)) found.set(Number(id), [...known, path]);
  }
  for (const files of found.values()) files.sort((a, b) => (durations.get(a) ?? 0) - (durations.get(b) ?? 0));
  return found;
}

function isNoticed(directory: string, { id }: Mutant, files: string[]): boolean {
  const rounds = [files.slice(0, FIRST_FILES), files.slice(FIRST_FILES)].filter((round) => round.length > 0);
  return rounds.some((round) => !runVitest(directory, ['--bail=1', ...round], { MUTANT: String(id) }, MUTANT_LIMIT_MS));
}

const paths = SOURCES.flatMap((source) =>
  readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(source, name)),
).sort();
const candidates = paths.flatMap(listMutants);
const mutants = chooseMutants(candidates, Number(values.count), Number(values.seed));
say(`${mutants.length} of ${candidates.length} possible faults, seed ${values.seed}`);

const directory = copyProject();
const outcomes: (Mutant & { outcome: 'noticed' | 'survived' | 'not reached' })[] = [];
try {
  for (const path of new Set(mutants.map((mutant) => mutant.path))) {
    const own = mutants.filter((mutant) => mutant.path === path);
    writeFileSync(join(directory, path), writeSwitches(readFileSync(path, 'utf8'), own));
  }
  const reaching = findTests(directory);
  for (const mutant of mutants) {
    const files = reaching.get(mutant.id) ?? [];
    const outcome = files.length === 0 ? 'not reached' : isNoticed(directory, mutant, files) ? 'noticed' : 'survived';
    outcomes.push({ ...mutant, outcome });
    if (outcome !== 'noticed')
      say(
        `${outcome}: ${mutant.path}:${mutant.line}  ${mutant.original.slice(0, 80)} → ${mutant.mutated.slice(0, 80) || '(left out)'}`,
      );
    if (values.out) writeFileSync(values.out, JSON.stringify(outcomes, null, 1));
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
const count = (wanted: string) => outcomes.filter(({ outcome }) => outcome === wanted).length;
say(`${count('noticed')} noticed, ${count('survived')} survived, ${count('not reached')} not reached`);
